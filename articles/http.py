"""What the API's views have in common: their methods, and answers that a client may keep and ask about again."""

from collections.abc import Callable
from functools import wraps
from hashlib import blake2b
from typing import Any

from django.http import HttpRequest, HttpResponseBase
from django.utils.cache import get_conditional_response, patch_vary_headers
from rest_framework.decorators import api_view
from rest_framework.response import Response

View = Callable[..., HttpResponseBase]


def api_methods(*names: str) -> Callable[[Callable[..., Any]], Any]:
    """DRF's `api_view` without the OPTIONS that it adds and that would then be refused: `Allow` tells what is true."""

    def decorate(function: Callable[..., Any]) -> Any:
        view: Any = api_view(list(names))(function)
        view.cls.http_method_names = [name.lower() for name in names]
        return view

    return decorate


def conditional(view: View) -> View:
    """A client may keep the answer for its reader, but asks each time: unchanged is 304 without a body.

    The ETag is a digest of the whole answer, so it is true whatever the answer was made from (rows, scores, language); it saves
    the transfer, not the work. It is weak because a proxy may compress the body. `Vary` keeps the answers of two readers of one
    browser apart. A failure is never kept.
    """

    @wraps(view)
    def answer(request: HttpRequest, *args: Any, **kwargs: Any) -> Any:
        response = view(request, *args, **kwargs)
        patch_vary_headers(response, ["Authorization", "Cookie"])
        if not isinstance(response, Response) or response.status_code != 200:
            return response
        response["Cache-Control"] = "private, no-cache"
        response["ETag"] = f'W/"{blake2b(response.render().content, digest_size=16).hexdigest()}"'
        return get_conditional_response(request, etag=response["ETag"], response=response)

    return answer
