"""Feedback over HTTP: one article's, and all of a reader's.

All answer with and without the last slash, so that no request is ever redirected.
"""

from django.urls import re_path

from feedback.api import LikeView, NotInterestedView, ReadView
from feedback.own_api import changes, export_file, import_file

# Eighteen digits fit the database's integers: a longer number is no article's.
ARTICLE = r"^api/articles/(?P<article_id>[0-9]{1,18})"

api_patterns = [
    re_path(ARTICLE + r"/like/?$", LikeView.as_view(), name="api-like"),
    re_path(ARTICLE + r"/not-interested/?$", NotInterestedView.as_view(), name="api-not-interested"),
    re_path(r"^api/feedback/?$", changes, name="api-feedback"),
    re_path(r"^api/feedback/export/?$", export_file, name="api-feedback-export"),
    re_path(r"^api/feedback/import/?$", import_file, name="api-feedback-import"),
    re_path(ARTICLE + r"/read/?$", ReadView.as_view(), name="api-read"),
]
