"""The addresses of signing in, the account, API tokens and the record of what was done."""

from django.urls import path

from . import token_views, views

urlpatterns = [
    path("sign-in/", views.SignIn.as_view(), name="sign-in"),
    path("sign-in/code/", views.sign_in_code, name="sign-in-code"),
    path("sign-out/", views.SignOut.as_view(), name="sign-out"),
    path("account/", views.account, name="account"),
    path("account/password/", views.ChangePassword.as_view(), name="password"),
    path("account/second-factor/", views.set_up_factor, name="factor"),
    path("account/second-factor/off/", views.turn_off_factor, name="factor-off"),
    path("invited/<str:secret>/", views.invited, name="invited"),
    path("tokens/", token_views.tokens, name="tokens"),
    path("tokens/<int:token_id>/revoke/", token_views.revoke, name="revoke-token"),
    path("studies/<slug:slug>/record/", views.record, name="record"),
]
