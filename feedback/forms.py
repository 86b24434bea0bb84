"""The forms of a reader's account that Django does not bring."""

from typing import Any

from django import forms
from django.contrib.auth.forms import UserCreationForm
from django.core.exceptions import ValidationError
from django.utils.translation import gettext as _
from django.utils.translation import gettext_lazy

from articles.models import User


class SignUpForm(UserCreationForm):
    """Django's: it refuses names that differ from another only in case, and weak passwords."""

    email = forms.EmailField(
        label=gettext_lazy("E-mail address (optional)"),
        help_text=gettext_lazy("Only used to reset a forgotten password. Without it that is not possible."),
        max_length=254,
        required=False,
        widget=forms.EmailInput(attrs={"autocomplete": "email"}),
    )

    class Meta(UserCreationForm.Meta):
        model = User
        fields = ("username", "email")
        help_texts = {"username": gettext_lazy("Letters, digits and @ . + - _ only.")}


class PasswordAgainForm(forms.Form):
    """The password once more: an open browser must not be enough to take or delete an account."""

    password = forms.CharField(
        label=gettext_lazy("Your password"),
        strip=False,
        widget=forms.PasswordInput(attrs={"autocomplete": "current-password"}),
    )

    def __init__(self, user: User, *args: Any, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        self.user = user

    def clean_password(self) -> str:
        password: str = self.cleaned_data["password"]
        if not self.user.check_password(password):
            raise ValidationError(_("This is not your password, so nothing was done."))
        return password


class EmailForm(PasswordAgainForm):
    """Whoever reads the mail of this address can set a new password."""

    email = SignUpForm.declared_fields["email"]
    field_order = ["email", "password"]
