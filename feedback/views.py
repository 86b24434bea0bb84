"""Feedback by plain forms, and a reader's account: the pages that work without JavaScript."""

from typing import Any
from urllib.parse import urlsplit, urlunsplit

from django.contrib import messages
from django.contrib.auth import login, logout
from django.contrib.auth import views as auth_views
from django.contrib.auth.mixins import LoginRequiredMixin
from django.contrib.auth.views import redirect_to_login
from django.contrib.messages.views import SuccessMessageMixin
from django.core.exceptions import ObjectDoesNotExist
from django.db import IntegrityError
from django.forms import Form
from django.http import Http404, HttpRequest, HttpResponse, HttpResponseBase, HttpResponseRedirect, QueryDict
from django.shortcuts import redirect
from django.urls import reverse, reverse_lazy
from django.utils.decorators import method_decorator
from django.utils.http import url_has_allowed_host_and_scheme
from django.utils.translation import gettext as _
from django.utils.translation import gettext_lazy
from django.views.decorators.cache import never_cache
from django.views.decorators.csrf import csrf_exempt, csrf_protect
from django.views.decorators.debug import sensitive_post_parameters
from django.views.decorators.http import require_http_methods
from django.views.generic import FormView
from rest_framework.exceptions import APIException, UnsupportedMediaType, ValidationError

from articles.authentication import keep_body_readable
from articles.models import Article, User
from articles.pages import problem_page
from feedback import intents
from feedback.forms import EmailForm, PasswordAgainForm, SignUpForm
from feedback.models import Verdict
from feedback.readers import NameTaken, change_email, delete_account, sign_up
from feedback.reading import mark_read
from feedback.requests import read_pairs
from feedback.serializers import FeedbackRequest, check_request
from feedback.services import apply_feedback

# A press without JavaScript

INCOMPLETE = gettext_lazy(
    "The form arrived incomplete or changed, so nothing was saved. Open the list again and press once more."
)
MAX_FORM_BYTES = 64 * 1024  # a verdict, and the address of the list it came from


@csrf_exempt
def article_feedback(request: HttpRequest, article_id: str) -> HttpResponseBase:
    """The CSRF check looks into the form and would use a multipart body up: read it before, so that it can be read again."""
    keep_body_readable(request, MAX_FORM_BYTES)
    return save_press(request, article_id)


@csrf_protect
@require_http_methods(["GET", "HEAD", "POST"])
def save_press(request: HttpRequest, article_id: str) -> HttpResponseBase:
    """Bring one article to the whole verdict the form states, and go back to the list; a visitor is asked to log in first."""
    if request.method != "POST":  # the log-in page stands at this address, and somebody loads it anew
        return redirect("list")
    try:
        asked = read_press(request)
    except APIException as error:
        return refused(request, error)
    if not isinstance(request.user, User):
        return log_in_to_save(request, int(article_id), asked)
    if request.POST.get("reader", "") not in ("", str(request.user.pk)):
        return reader_changed(request)
    try:
        apply_feedback(profile_id=request.user.pk, article_id=int(article_id), wish=asked.wish, order=asked.order)
    except (ObjectDoesNotExist, IntegrityError):
        raise Http404 from None
    return HttpResponseRedirect(with_kept(local_path(request.POST.get("next", "")), int(article_id)), status=303)


@require_http_methods(["GET", "HEAD", "POST"])
def article_read(request: HttpRequest, article_id: str) -> HttpResponseBase:
    """Bring the read mark of one article to the state the form names, and go back to the list."""
    if request.method != "POST":
        return redirect("list")
    if not isinstance(request.user, User):
        return redirect_to_login(local_path(request.POST.get("next", "")))
    if request.POST.get("reader", "") not in ("", str(request.user.pk)):
        return reader_changed(request)
    read = {"true": True, "false": False}.get(request.POST.get("read", ""))
    if read is None:
        return problem_page(request, 400, _("This press could not be read"), str(INCOMPLETE))
    try:
        mark_read(profile_id=request.user.pk, article_id=int(article_id), read=read)
    except (ObjectDoesNotExist, IntegrityError):
        raise Http404 from None
    return HttpResponseRedirect(with_kept(local_path(request.POST.get("next", "")), int(article_id)), status=303)


def read_press(request: HttpRequest) -> FeedbackRequest:
    """Both fields must be there: a form states the whole verdict, and is never a toggle. Raises APIException."""
    if request.content_type == "application/json":
        raise UnsupportedMediaType(request.content_type)
    asked = check_request(read_pairs(request, MAX_FORM_BYTES), request.GET, field=Verdict.LIKED, may_toggle=False)
    if asked.wish.not_interested is None:
        raise ValidationError({"not_interested": [_("This field is required: the state you want, true or false.")]})
    return asked


def refused(request: HttpRequest, error: APIException) -> HttpResponse:
    return problem_page(request, error.status_code, _("This press could not be read"), str(INCOMPLETE))


def reader_changed(request: HttpRequest) -> HttpResponse:
    detail = _("Nothing was saved for either of you. Open the list again to see your own.")
    return problem_page(request, 403, _("Another reader is logged in now"), detail)


def log_in_to_save(request: HttpRequest, article_id: int, asked: FeedbackRequest) -> HttpResponseBase:
    """The log-in page, carrying what was asked for. Nothing is stored before somebody logs in and sends it."""
    if not Article.objects.filter(pk=article_id).exists():
        raise Http404
    order = asked.order or intents.new_order()
    liked, not_interested = bool(asked.wish.liked), bool(asked.wish.not_interested)
    reader = request.POST.get("reader", "")
    intent = intents.Intent(article_id, liked, not_interested, order.client, order.seq, reader)
    return LogIn.as_view(signed_intent=intents.sign(intent))(request)


def local_path(address: str) -> str:
    """The address if it is a path on this site, else the list."""
    is_local = address.startswith("/") and url_has_allowed_host_and_scheme(address, allowed_hosts=None)
    return address if is_local else reverse("list")


def with_kept(address: str, article_id: int) -> str:
    """The same list, asked to show this card once more whatever its verdict is now."""
    parts = urlsplit(address)
    query = QueryDict(parts.query, mutable=True)
    query["kept"] = str(article_id)
    path = "/" + parts.path.lstrip("/")  # two slashes would begin the address of another site
    return urlunsplit(("", "", path, query.urlencode(), f"article-{article_id}"))


# Log in and sign up, which carry an intent on


class CarriesIntent(auth_views.RedirectURLMixin, FormView):
    """A form that makes somebody a logged-in reader; the intent it may carry is saved then, and never before."""

    signed_intent = ""
    next_page = "list"

    def get_form_kwargs(self) -> dict[str, Any]:
        """A press only hands its intent over, and so does a post without a name: they are answered by a fresh form.

        A press is no log-in, whatever else it carries: nobody counts its tries.
        """
        kwargs: dict[str, Any] = super().get_form_kwargs()
        is_filled_in = "username" in self.request.POST and not self.signed_intent
        return kwargs if is_filled_in else kwargs | {"data": None, "files": None}

    def get_context_data(self, **kwargs: Any) -> dict[str, Any]:
        signed = self.signed_intent or self.request.POST.get("intent", "")
        told = intents.told_before(intents.read(signed)) if signed else ""
        context = {"intent": signed, "told": told, "next": self.get_redirect_url()}
        return super().get_context_data(**kwargs) | context

    def enter(self, user: User) -> HttpResponse:
        address, signed = self.get_success_url(), self.request.POST.get("intent")
        if not signed:
            login(self.request, user)
            return HttpResponseRedirect(address)
        intent = intents.read(signed)
        # First: if it fails (503), the same form can be sent again. A log-in would have made its CSRF token void.
        outcome = intents.carry_out(intent, user.pk)
        login(self.request, user)
        saved = outcome is intents.Outcome.SAVED
        messages.add_message(self.request, messages.SUCCESS if saved else messages.ERROR, intents.told_after(intent, outcome))
        return HttpResponseRedirect(with_kept(address, intent.article) if intent and saved else address)


class LogIn(CarriesIntent, auth_views.LoginView):
    template_name = "account/login.html"

    def form_valid(self, form: Any) -> HttpResponse:
        return self.enter(form.get_user())


@method_decorator([sensitive_post_parameters(), never_cache], name="dispatch")
class SignUp(CarriesIntent, FormView):
    template_name = "account/signup.html"
    form_class = SignUpForm

    def form_valid(self, form: SignUpForm) -> HttpResponse:
        data = form.cleaned_data
        try:
            user = sign_up(username=data["username"], password=data["password1"], email=data["email"])
        except NameTaken:
            form.add_error("username", _("Somebody else has this name. Try another one."))
            return self.form_invalid(form)
        return self.enter(user)


# The account


class PasswordChange(SuccessMessageMixin, auth_views.PasswordChangeView):
    template_name = "account/password_change.html"
    success_url = reverse_lazy("list")
    success_message = gettext_lazy("Your password is changed. Other browsers are logged out; API tokens stay valid.")


class PasswordReset(auth_views.PasswordResetView):
    template_name = "account/password_reset.html"
    email_template_name = "account/password_reset_email.txt"
    subject_template_name = "account/password_reset_subject.txt"


class PasswordResetSent(auth_views.PasswordResetDoneView):
    template_name = "account/password_reset_done.html"


class PasswordResetConfirm(SuccessMessageMixin, auth_views.PasswordResetConfirmView):
    template_name = "account/password_reset_confirm.html"
    success_url = reverse_lazy("list")
    success_message = gettext_lazy("Your new password is set, and you are logged in.")
    post_reset_login = True


@method_decorator([sensitive_post_parameters(), never_cache], name="dispatch")
class PasswordAgain(LoginRequiredMixin, FormView):
    """A page that asks for the password; a link alone does nothing."""

    success_url = reverse_lazy("list")

    @property
    def reader(self) -> User:
        assert isinstance(self.request.user, User)
        return self.request.user

    def get_form_kwargs(self) -> dict[str, Any]:
        return super().get_form_kwargs() | {"user": self.reader}


class EmailChange(SuccessMessageMixin, PasswordAgain):
    template_name = "account/email.html"
    form_class = EmailForm
    success_message = gettext_lazy("Your e-mail address is saved.")

    def get_initial(self) -> dict[str, Any]:
        return {"email": self.reader.email}

    def form_valid(self, form: Form) -> HttpResponse:
        change_email(self.reader.pk, form.cleaned_data["email"])
        return super().form_valid(form)


class DeleteAccount(PasswordAgain):
    template_name = "account/delete.html"
    form_class = PasswordAgainForm

    def form_valid(self, form: Form) -> HttpResponse:
        delete_account(self.reader.pk)
        logout(self.request)
        messages.success(self.request, _("Your account is deleted, and everything you marked with it."))
        return super().form_valid(form)
