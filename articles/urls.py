from django.urls import path

from articles.views import article_list

urlpatterns = [
    path("", article_list, name="list"),
]
