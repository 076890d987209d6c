"""Coming in: guessing takes time, a second factor is asked for, an invitation works once, and changes are recorded."""

import base64
import json
import re
import time
from concurrent.futures import ThreadPoolExecutor
from datetime import UTC, datetime, timedelta

import pytest
from django.db import DatabaseError, connection, transaction
from django.test import Client, RequestFactory
from django.urls import reverse
from django.utils import timezone
from django_otp.oath import hotp

from annotation.accounts import invitations, second_factor, throttle
from annotation.accounts.second_factor import BadCode
from annotation.common import clock
from annotation.common.errors import Refused
from annotation.models import AuditEvent, Invitation, Membership, Role, SecondFactor, SignInFailures, User
from tests.browser.looking import markup
from tests.factories import make_batch, make_member, make_study, make_user
from tests.postgres import many_connections

pytestmark = pytest.mark.django_db
PASSWORD = "secret-for-tests"


@pytest.fixture
def admin(client):
    study = make_study()
    user = make_member(study, Role.ADMIN)
    client.force_login(user)
    return study, user


def code_at(secret: str, step: int) -> str:
    return f"{hotp(base64.b32decode(secret), step):06d}"


def sign_in(client, name, password=PASSWORD, **options):
    return client.post(reverse("sign-in"), {"username": name, "password": password}, **options)


class TestGuessing:
    def test_after_five_failures_the_right_password_has_to_wait_too(self, client):
        user = make_user()
        for _ in range(5):
            assert sign_in(client, user.username, "wrong").status_code == 200
        response = sign_in(client, user.username)
        assert response.status_code == 429
        assert 0 < int(response["Retry-After"]) <= 31
        assert "Too many failed tries" in response.content.decode()
        SignInFailures.objects.update(closed_until=timezone.now() - timedelta(seconds=1))
        assert sign_in(client, user.username).status_code == 302

    def test_each_further_failure_doubles_the_wait_up_to_a_quarter_of_an_hour(self, client):
        user, waits, now = make_user(), [], timezone.now()
        for _ in range(12):
            with clock.fixed(now):
                sign_in(client, user.username, "wrong")
            if failures := SignInFailures.objects.filter(closed_until__isnull=False).first():
                waits.append((failures.closed_until - now).total_seconds())
                SignInFailures.objects.update(closed_until=now - timedelta(seconds=1))
        assert waits[:4] == [30, 60, 120, 240]
        assert max(waits) == 900

    def test_one_address_cannot_try_many_names(self, client):
        for n in range(30):
            sign_in(client, f"nobody-{n}", "wrong")
        assert sign_in(client, make_user().username).status_code == 429

    def test_the_address_is_the_proxys_word_not_the_clients(self, client, settings):
        settings.SECURE_PROXY_SSL_HEADER = ("HTTP_X_FORWARDED_PROTO", "https")
        for n in range(30):
            sign_in(client, f"nobody-{n}", "wrong", headers={"X-Forwarded-For": f"10.0.0.{n}, 192.0.2.1"})
        username = make_user().username
        assert sign_in(client, username, headers={"X-Forwarded-For": "10.9.9.9, 192.0.2.1"}).status_code == 429
        assert sign_in(client, username, headers={"X-Forwarded-For": "192.0.2.1, 192.0.2.7"}).status_code == 302

    def test_a_padded_name_is_the_same_name(self, client):
        user = make_user()
        wide = "".join(chr(ord(c) + 0xFEE0) if c.isalpha() else c for c in user.username)  # ｕｓｅｒ
        for name in (user.username, f" {user.username}", f"{user.username}\t", wide, user.username.upper()):
            sign_in(client, name, "wrong")
        assert sign_in(client, user.username).status_code == 429

    def test_a_wrong_field_names_its_error(self, client):
        client.force_login(make_user("ann"))
        new = {"new_password1": "hunter3-hunter3", "new_password2": "hunter3-hunter3"}
        page = client.post(reverse("password"), {"old_password": "wrong", **new}).content.decode()
        described = re.findall('aria-describedby="([^"]+)"', page)
        assert described
        assert [name for names in described for name in names.split() if f'id="{name}"' not in page] == []

    def test_the_old_password_can_not_be_guessed_either(self, client):
        user = make_user()
        client.force_login(user)
        new = {"new_password1": "a-fine-long-phrase", "new_password2": "a-fine-long-phrase"}
        for _ in range(5):
            assert client.post(reverse("password"), {"old_password": "wrong", **new}).status_code == 200
        response = client.post(reverse("password"), {"old_password": PASSWORD, **new})
        assert response.status_code == 429
        assert 0 < int(response["Retry-After"]) <= 31
        assert "Too many failed tries" in response.content.decode()
        SignInFailures.objects.update(closed_until=timezone.now() - timedelta(seconds=1))
        assert client.post(reverse("password"), {"old_password": PASSWORD, **new}).status_code == 302
        assert not SignInFailures.objects.exists()

    def test_a_success_frees_the_name_and_names_are_not_stored(self, client):
        user = make_user()
        sign_in(client, user.username, "wrong")
        assert user.username not in str(list(SignInFailures.objects.values()))
        sign_in(client, user.username)
        assert SignInFailures.objects.filter(failures=1).count() == 1  # the address's


@pytest.mark.postgres
@pytest.mark.django_db(transaction=True)
class TestGuessingAtOnce:
    """Sixty guesses at the moment a wait ends: one is looked at, the others wait again."""

    def test_an_ended_wait_lets_one_attempt_through(self, live_server, monkeypatch):
        name, looked_at = make_user().username, []

        def slowly(backend, request, username=None, password=None, **_):
            looked_at.append(username)
            time.sleep(0.2)  # a real hash takes that long
            return None

        monkeypatch.setattr("annotation.accounts.AccountBackend.authenticate", slowly)
        client = Client()
        for _ in range(6):
            sign_in(client, name, "wrong")
        SignInFailures.objects.update(closed_until=timezone.now() - timedelta(seconds=1))
        looked_at.clear()
        keys = throttle.keys_of(RequestFactory().get("/"), name)

        def guess(_):
            try:
                return sign_in(Client(), name, "wrong").status_code
            finally:
                connection.close()

        with many_connections(), ThreadPoolExecutor(30) as threads:
            codes = list(threads.map(guess, range(60)))
        assert len(looked_at) == 1
        assert codes.count(429) == 59
        assert SignInFailures.objects.get(key__in=[key for key, kind in keys.items() if kind == "name"]).failures == 6


class TestSecondFactor:
    def test_codes_are_those_of_rfc_4226(self, factor):
        # RFC 4226, appendix D: the secret "12345678901234567890", counters 0 to 9.
        secret = base64.b32encode(b"12345678901234567890").decode()
        expected = ["755224", "287082", "359152", "969429", "338314", "254676", "287922", "162583", "399871", "520489"]
        assert [code_at(secret, n) for n in range(10)] == expected
        SecondFactor.objects.update(secret=secret, last_step=0)
        for step, code in enumerate(expected[1:], start=1):
            with clock.fixed(datetime.fromtimestamp(30 * step + 29, UTC)):
                second_factor.check_code(factor.user, code)

    @pytest.fixture
    def factor(self) -> SecondFactor:
        user = make_user()
        secret = second_factor.begin(user).secret
        second_factor.confirm(user, now_code(secret))
        return SecondFactor.objects.get(user=user)

    def test_a_password_alone_does_not_sign_in(self, client, factor):
        name = factor.user.username
        assert sign_in(client, name).url == reverse("sign-in-code")
        assert client.get(reverse("home")).wsgi_request.user.is_anonymous
        rejected = client.post(reverse("sign-in-code"), {"code": "000000"})
        assert rejected.status_code == 422
        accepted = client.post(reverse("sign-in-code"), {"code": code_at(factor.secret, factor.last_step + 1)})
        assert accepted.status_code == 302
        assert client.get(reverse("home")).wsgi_request.user == factor.user

    def test_a_code_is_good_once(self, factor):
        code = code_at(factor.secret, factor.last_step + 1)
        second_factor.check_code(factor.user, code)
        with pytest.raises(BadCode):
            second_factor.check_code(factor.user, code)

    @pytest.mark.parametrize("prefix", ["0", "+", "\u0661"])
    def test_only_six_digits_are_a_code(self, factor, prefix):
        with pytest.raises(BadCode):
            second_factor.check_code(factor.user, prefix + code_at(factor.secret, factor.last_step + 1))

    def test_an_old_code_is_refused(self, factor):
        SecondFactor.objects.update(last_step=0)
        with pytest.raises(BadCode):
            second_factor.check_code(factor.user, code_at(factor.secret, factor.last_step - 3))

    def test_guessing_codes_has_to_wait(self, client, factor):
        sign_in(client, factor.user.username)
        for _ in range(5):
            client.post(reverse("sign-in-code"), {"code": "000000"})
        code = code_at(factor.secret, factor.last_step + 1)
        response = client.post(reverse("sign-in-code"), {"code": code})
        assert response.status_code == 429
        assert 0 < int(response["Retry-After"]) <= 31

    def test_guessing_codes_to_turn_it_off_has_to_wait_too(self, client, factor):
        client.force_login(factor.user)
        for _ in range(5):
            assert client.post(reverse("factor-off"), {"code": "000000"}).status_code == 422
        code = code_at(factor.secret, factor.last_step + 1)
        response = client.post(reverse("factor-off"), {"code": code})
        assert response.status_code == 429
        assert 0 < int(response["Retry-After"]) <= 31
        assert "Too many wrong codes" in response.content.decode()
        SignInFailures.objects.update(closed_until=timezone.now() - timedelta(seconds=1))
        assert client.post(reverse("factor-off"), {"code": code}).status_code == 302
        assert not SecondFactor.objects.exists()

    def test_a_recovery_code_opens_once(self):
        user = make_user()
        codes = second_factor.confirm(user, now_code(second_factor.begin(user).secret))
        assert len(set(codes)) == 10
        second_factor.check_code(user, codes[3])
        with pytest.raises(BadCode):
            second_factor.check_code(user, codes[3])
        assert not any(code in str(SecondFactor.objects.values()) for code in codes)

    def test_it_is_set_up_and_turned_off_on_the_pages(self, client):
        user = make_user()
        client.force_login(user)
        page = client.get(reverse("factor")).content.decode()
        secret = SecondFactor.objects.get(user=user).secret
        assert "<svg" in page
        assert secret in page
        assert client.post(reverse("factor"), {"code": "123"}).status_code == 422
        assert "recovery" in client.post(reverse("factor"), {"code": now_code(secret)}).content.decode()
        assert client.get(reverse("factor")).status_code == 409
        rejected = client.post(reverse("factor-off"), {"code": "000000"})
        assert rejected.status_code == 422
        assert "<h1>Your account</h1>" in rejected.content.decode()
        assert "autofocus><p>This code is wrong or was used already." in rejected.content.decode()
        client.post(reverse("factor-off"), {"code": code_at(secret, SecondFactor.objects.get().last_step + 1)})
        assert not SecondFactor.objects.exists()

    def test_the_step_between_ends_after_five_minutes(self, client, factor):
        sign_in(client, factor.user.username)
        session = client.session
        session["second_factor"] = {**session["second_factor"], "at": 0}
        session.save()
        code = code_at(factor.secret, factor.last_step + 1)
        assert client.post(reverse("sign-in-code"), {"code": code}).url == reverse("sign-in")


def now_code(secret: str) -> str:
    return code_at(secret, int(clock.now().timestamp()) // 30)


class TestInvitations:
    def test_a_new_person_joins_with_the_link_once(self, client, admin):
        study, _ = admin
        page = client.post(reverse("invite", args=[study.slug]), {"role": "analyst", "note": "Ada"}).content.decode()
        link = page.split('id="link">')[1].split("<")[0]
        assert "Ada" in client.get(reverse("collect", args=[study.slug])).content.decode()
        client.logout()
        assert study.name in client.get(link).content.decode()
        weak = client.post(link, {"name": "ada", "password": "12345678"})
        assert weak.status_code == 409
        assert "Nothing was made" in weak.content.decode()
        assert 'name="name" autocomplete="username" autocapitalize="none" maxlength="150" required value="ada">' in (
            markup(weak.content.decode())
        )
        assert not User.objects.filter(username="ada").exists()
        assert client.post(link, {"name": "ada", "password": "a-fine-long-phrase"}).status_code == 302
        assert Membership.objects.get(user__username="ada").role == "analyst"
        client.logout()
        assert client.get(link).status_code == 404

    def test_a_signed_in_person_keeps_the_account(self, client, admin):
        study, user = admin
        secret = invitations.invite(study, "annotator", "", user)
        invited_user = make_user()
        client.force_login(invited_user)
        client.post(reverse("invited", args=[secret]))
        assert study.role_of(invited_user) == "annotator"

    @pytest.mark.parametrize("change", [{"expires_at": timezone.now()}, {"revoked_at": timezone.now()}])
    def test_an_ended_one_opens_nothing(self, change, client, admin):
        study, user = admin
        secret = invitations.invite(study, "admin", "", user)
        Invitation.objects.update(**change)
        client.force_login(make_user())
        assert client.post(reverse("invited", args=[secret])).status_code == 404
        assert Membership.objects.count() == 1

    def test_only_admins_invite_and_a_taken_name_is_said(self, client, admin):
        study, user = admin
        secret = invitations.invite(study, "annotator", "", user)
        with pytest.raises(Refused, match="is taken"):
            invitations.accept_as_new(secret, user.username, "a-fine-long-phrase")
        assert invitations.find(secret)
        client.force_login(make_member(study, Role.ANALYST))
        assert client.post(reverse("invite", args=[study.slug]), {"role": "admin"}).status_code == 403
        assert secret not in str(list(Invitation.objects.values()))


class TestRecord:
    def test_an_admins_change_is_written_down_with_its_request(self, client, admin):
        study, user = admin
        batch = make_batch(study)
        client.post(reverse("batch-state", args=[study.slug, batch.pk]), {"state": "paused"})
        event = AuditEvent.objects.get(study=study)
        assert event.action == "POST batch-state"
        assert event.user == user
        assert event.facts["form.state"] == "paused"
        assert event.facts["batch_id"] == str(batch.pk)
        assert len(event.request) == 32
        page = client.get(reverse("record", args=[study.slug])).content.decode()
        assert "form.state: paused" in page
        assert f"Paused “{batch.name}”" in page

    def test_a_refused_change_and_a_look_are_not(self, client, admin):
        study, _ = admin
        client.get(reverse("collect", args=[study.slug]))
        client.post(reverse("batch-state", args=[study.slug, 0]), {"state": "paused"})
        assert not AuditEvent.objects.exists()

    def test_secrets_never_stand_in_it(self, client):
        user = make_user()
        sign_in(client, user.username)
        sign_in(client, user.username, "hunter2-hunter2")
        new = {"old_password": PASSWORD, "new_password1": "hunter3-hunter3", "new_password2": "hunter3-hunter3"}
        client.post(reverse("password"), new)
        text = json.dumps(list(AuditEvent.objects.values("action", "facts")))
        assert "POST password" in text
        assert "hunter" not in text
        assert PASSWORD not in text

    def test_what_it_says_never_changes(self, client, admin):
        study, _ = admin
        client.post(reverse("batch-state", args=[study.slug, make_batch(study).pk]), {"state": "paused"})
        with pytest.raises(DatabaseError, match="only ever added to"), transaction.atomic():
            AuditEvent.objects.update(action="nothing")

    def test_it_is_for_admins(self, client, admin):
        study, _ = admin
        client.force_login(make_member(study, Role.ANALYST))
        assert client.get(reverse("record", args=[study.slug])).status_code == 403
