"""A failure of a page, in words."""

from django.http import HttpRequest, HttpResponse
from django.shortcuts import render


def problem_page(request: HttpRequest, status: int, heading: str, detail: str) -> HttpResponse:
    """What happened (`heading`), and what to do (`detail`)."""
    return render(request, "error.html", {"code": status, "heading": heading, "detail": detail}, status=status)
