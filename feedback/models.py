"""What a reader said of an article, and the keys under which a client may ask again for the same answer."""

from django.conf import settings
from django.db import models
from django.db.models import Q
from django.utils.translation import gettext_lazy as _

from articles.models import Article, Profile


class Verdict(models.TextChoices):
    """What a reader says of an article. The two exclude each other; the last one said wins."""

    NONE = "", _("Nothing said")
    LIKED = "liked", _("Liked")
    NOT_INTERESTED = "not_interested", _("Not interested")


class Feedback(models.Model):
    """One reader's verdict on one article; the row stays when the verdict is taken back.

    `version` is the reader's interest version at the last change of this verdict. `seen` is the order guard: the highest `seq` of
    each client, `[[client, seq], …]`, the client used last at the end. `read_at` is a read mark and no verdict: nothing is
    ranked by it.
    """

    profile = models.ForeignKey(Profile, on_delete=models.CASCADE, related_name="feedback")
    article = models.ForeignKey(Article, on_delete=models.PROTECT, related_name="feedback")
    verdict = models.CharField(max_length=16, choices=Verdict, blank=True, default=Verdict.NONE, db_default="")
    marked_at = models.DateTimeField(null=True, blank=True)
    version = models.PositiveBigIntegerField(default=0, db_default=0)
    seen = models.JSONField(default=list, db_default=[], blank=True)
    read_at = models.DateTimeField(null=True, blank=True)

    class Meta:
        verbose_name_plural = "feedback"
        constraints = [models.UniqueConstraint(fields=["profile", "article"], name="feedback_one_per_reader_and_article")]
        indexes = [
            models.Index(fields=["article"], condition=Q(verdict="liked"), name="feedback_likes_of_article"),
            models.Index(fields=["profile", "verdict", "-marked_at", "-id"], name="feedback_marks_of_reader"),
            models.Index(fields=["profile", "version"], name="feedback_changes_of_reader"),
        ]

    def __str__(self) -> str:
        return f"{self.profile_id} on {self.article_id}: {self.get_verdict_display()}"


class IdempotencyKey(models.Model):
    """A key some client of this reader sent, and the reply it stands for.

    `body` is text: a JSON column would reorder the members, and a replay repeats the exact bytes.
    """

    reader = models.ForeignKey(settings.AUTH_USER_MODEL, on_delete=models.CASCADE, related_name="+")
    key = models.CharField(max_length=128)
    fingerprint = models.CharField(max_length=64)
    status = models.PositiveSmallIntegerField(null=True)
    headers = models.JSONField(default=dict)
    body = models.TextField(default="")
    created_at = models.DateTimeField(db_index=True)

    class Meta:
        constraints = [models.UniqueConstraint(fields=["reader", "key"], name="idempotency_key_of_reader")]

    def __str__(self) -> str:
        return self.key
