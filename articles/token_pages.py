"""The page where a reader makes, looks over and revokes the tokens of their API clients."""

from django import forms
from django.contrib import messages
from django.contrib.auth.decorators import login_required
from django.http import HttpRequest, HttpResponse
from django.shortcuts import redirect, render
from django.utils.translation import gettext as _
from django.utils.translation import gettext_lazy
from django.views.decorators.cache import never_cache
from django.views.decorators.http import require_http_methods, require_POST

from articles.models import ApiToken, User

MAX_TOKENS = 50


class TokenForm(forms.Form):
    name = forms.CharField(
        label=gettext_lazy("Name of a new token"),
        max_length=100,
        widget=forms.TextInput(attrs={"autocomplete": "off", "placeholder": gettext_lazy("Where will you use it?")}),
    )

    def __init__(self, user: User, data: object = None) -> None:
        super().__init__(data)  # type: ignore[arg-type]
        self.user = user

    def clean(self) -> None:
        if ApiToken.objects.filter(user=self.user).count() >= MAX_TOKENS:
            raise forms.ValidationError(_("You have %s tokens. Revoke one that you no longer use.") % MAX_TOKENS)


@login_required
@require_http_methods(["GET", "HEAD", "POST"])
# The one page that shows a token must not be kept by anybody, so it is the answer itself and no redirect's target.
@never_cache
def tokens(request: HttpRequest) -> HttpResponse:
    """The reader's tokens; a POST makes one and shows it, this once."""
    assert isinstance(request.user, User)
    form = TokenForm(request.user, request.POST if request.method == "POST" else None)
    context: dict[str, object] = {"form": form}
    if form.is_valid():
        made, secret = ApiToken.objects.create(user=request.user, name=form.cleaned_data["name"])
        context = {"form": TokenForm(request.user), "made": made, "secret": secret}
    listed = ApiToken.objects.filter(user=request.user).order_by("-created", "pk")
    return render(request, "account/tokens.html", context | {"tokens": listed})


@login_required
@require_POST
def revoke(request: HttpRequest) -> HttpResponse:
    """From now on the token is refused. Revoking it again is no error, and somebody else's is not found."""
    assert isinstance(request.user, User)
    found = ApiToken.objects.filter(user=request.user, pk=request.POST.get("token", ""))
    for name in found.values_list("name", flat=True):
        found.delete()
        messages.success(request, _("Revoked: %s. What used it is refused from now on.") % (name or _("a token without a name")))
    return redirect("tokens")
