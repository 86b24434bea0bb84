"""How old an article is, in the few characters its row has for it."""

from datetime import datetime

from django import template
from django.utils import timezone
from django.utils.formats import date_format
from django.utils.html import format_html
from django.utils.safestring import SafeString
from django.utils.translation import gettext as _

register = template.Library()

MINUTE, HOUR, DAY = 60, 3600, 86400
OLDEST_AGE_IN_DAYS = 30  # from then on the date says more


@register.simple_tag
def age(moment: datetime) -> SafeString:
    """A <time> element: “5 min”, “3 h”, “2 d”, or the date of an old one. The exact time is its tooltip."""
    local = timezone.localtime(moment)
    shown = short_age((timezone.now() - moment).total_seconds())
    ago = format_html('{}<span class="vh"> {}</span>', shown, _("ago")) if shown else date_format(local, "j M Y")
    return format_html('<time datetime="{}" title="{}">{}</time>', moment.isoformat(), date_format(local, "DATETIME_FORMAT"), ago)


def short_age(seconds: float) -> str:
    """In one unit; empty if the date should stand instead."""
    if seconds < HOUR:
        return _("%(count)d min") % {"count": max(0, seconds // MINUTE)}
    if seconds < DAY:
        return _("%(count)d h") % {"count": seconds // HOUR}
    days = seconds // DAY
    return _("%(count)d d") % {"count": days} if days <= OLDEST_AGE_IN_DAYS else ""
