from django.urls import path, re_path

from articles.api import article_detail as api_article
from articles.api import article_list as api_articles
from articles.views import article_list

urlpatterns = [
    path("", article_list, name="list"),
]

api_patterns = [
    re_path(r"^api/articles/?$", api_articles, name="api-articles"),
    re_path(r"^api/articles/(?P<article_id>[0-9]{1,18})/?$", api_article, name="api-article"),
]
