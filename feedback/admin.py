"""Feedback in the admin is for looking: it changes through `apply_feedback` alone, and a reader goes through `delete_account`."""

from typing import Any

from django.contrib import admin
from django.contrib.auth.admin import UserAdmin
from django.db.models import QuerySet
from django.http import HttpRequest

from articles.models import User
from feedback.models import Feedback, IdempotencyKey
from feedback.readers import delete_account


class ReadOnly(admin.ModelAdmin):
    def has_add_permission(self, request: HttpRequest) -> bool:
        return False

    def has_change_permission(self, request: HttpRequest, obj: object = None) -> bool:
        return False

    def has_delete_permission(self, request: HttpRequest, obj: object = None) -> bool:
        return False


@admin.register(Feedback)
class FeedbackAdmin(ReadOnly):
    list_display = ["profile_id", "article", "verdict", "marked_at", "version"]
    list_filter = ["verdict"]
    list_select_related = ["article"]
    search_fields = ["profile__user__username", "article__title"]
    date_hierarchy = "marked_at"


@admin.register(IdempotencyKey)
class IdempotencyKeyAdmin(ReadOnly):
    list_display = ["reader_id", "key", "status", "created_at"]
    search_fields = ["key"]


@admin.register(User)
class ReaderAdmin(UserAdmin):
    """What a reader said goes with the reader, though nobody may delete it by itself."""

    def get_deleted_objects(self, objs: Any, request: HttpRequest) -> Any:
        shown, counts, forbidden, protected = super().get_deleted_objects(objs, request)
        return shown, counts, forbidden - {model._meta.verbose_name for model in (Feedback, IdempotencyKey)}, protected

    def delete_model(self, request: HttpRequest, obj: User) -> None:
        delete_account(obj.pk)

    def delete_queryset(self, request: HttpRequest, queryset: QuerySet[User]) -> None:
        for user in queryset:
            delete_account(user.pk)
