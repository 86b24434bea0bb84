"""Lists of feeds, in and out: from the command line and by upload."""

import io
from pathlib import Path
from typing import Any
from xml.etree import ElementTree

import pytest
from django.core.files.uploadedfile import SimpleUploadedFile
from django.core.management import CommandError, call_command
from django.test import Client
from django.urls import reverse

from articles.feeds import FeedError
from articles.feeds.opml import MAX_BYTES, Report, export_opml, import_opml, outlines, text_of
from articles.models import Feed
from tests.factories import FeedFactory, UserFactory


def opml(*body: str, head: str = '<?xml version="1.0" encoding="utf-8"?>') -> bytes:
    return f'{head}<opml version="2.0"><head><title>List</title></head><body>{"".join(body)}</body></opml>'.encode()


def outline(url: str, text: str = "A feed", **more: str) -> str:
    return f'<outline type="rss" text="{text}" xmlUrl="{url}"{"".join(f" {k}={v!r}" for k, v in more.items())}/>'


A, B, C = (f"https://{name}.example/feed" for name in "abc")


@pytest.fixture
def staff(client: Client, db: None) -> Client:
    client.force_login(UserFactory(is_staff=True, is_superuser=True))
    return client


def feeds() -> dict[str, str]:
    return dict(Feed.objects.values_list("url", "title"))


def test_feeds_in_folders_are_added_with_their_names(db: None) -> None:
    folder = f'<outline text="Folder">{outline(B, "B &amp; C")}<outline text="Deeper">{outline(C, "")}</outline></outline>'
    assert import_opml(opml(outline(A, "日本語"), folder)) == Report(added=[A, B, C])
    assert feeds() == {A: "日本語", B: "B & C", C: "c.example"}


def test_what_is_there_stays_as_it_is(db: None) -> None:
    Feed.objects.create(url=A, title="Renamed", is_active=False)
    report = import_opml(opml(outline(A, "Original"), outline(B)))
    assert report == Report(added=[B], known=[A])
    assert list(report.lines()) == ["1 feed added.", "1 was there already."]
    assert (Feed.objects.get(url=A).title, Feed.objects.get(url=A).is_active) == ("Renamed", False)
    assert import_opml(opml(outline(A), outline(B))) == Report(known=[A, B])


def test_a_feed_named_twice_is_added_once(db: None) -> None:
    assert import_opml(opml(outline(A), f'<outline text="Folder">{outline(A, "Again")}</outline>')).added == [A]
    assert Feed.objects.count() == 1


@pytest.mark.parametrize(
    "bad", ["javascript:alert(1)", "file:///etc/passwd", "feed.example/rss", "http://[", "https://x/" + "a" * 2000]
)
def test_what_is_no_web_address_is_left_out_and_named(db: None, bad: str) -> None:
    report = import_opml(opml(outline(bad), outline(A)))
    assert (report.added, report.refused) == ([A], [bad])
    assert list(report.lines())[-1].startswith("Left out, for this is no web address: ")
    assert list(feeds()) == [A]


# Broken files: one per kind of fault

BROKEN = {
    "outlines after the closed body": opml().replace(b"</opml>", outline(A).encode() + b"</opml>"),
    "an undefined entity": opml(outline(A, "Tom &undefined; Jerry")),
    "two documents in one file": opml() + opml(outline(A)),
    "cut off in the middle of a tag": opml(outline(A), outline(B))[:-60],
    "tags left open": opml(f'<outline text="Folder">{outline(A)}'),
    "another encoding than declared": opml(outline(A, "Größe")).decode().encode("latin-1"),
    "a byte order mark and no declaration": b"\xef\xbb\xbf" + opml(outline(A), head=""),
    "UTF-16": opml(outline(A), head="").decode().encode("utf-16"),
    "an ampersand in the address": opml(outline(A)).replace(b"<body>", b'<body><outline text="a & b"/>'),
    "a comment that is never closed": opml(outline(A)) + b"<!-- the end",
    "upper case": opml(outline(A)).replace(b"opml", b"OPML"),
}


@pytest.mark.parametrize("fault", BROKEN)
def test_a_broken_file_is_read_as_far_as_it_goes(db: None, fault: str) -> None:
    assert import_opml(BROKEN[fault]).added == [A]


@pytest.mark.parametrize(("end", "is_said"), [(None, False), (-1, True), (-60, True)])
def test_a_file_that_lost_its_end_is_said_to_be_broken(db: None, end: int | None, is_said: bool) -> None:
    report = import_opml(opml(outline(A), outline(B))[:end])
    assert A in report.added
    assert ("Check that no feed is missing" in " ".join(report.lines())) is is_said


def test_no_password_is_kept_or_told(db: None) -> None:
    report = import_opml(
        opml(outline(A.replace("//", "//me:secret@")), outline("http://me:secret@["), outline("me:secret@b.example"))
    )
    assert (report.added, len(report.refused)) == ([A], 2)
    assert "secret" not in " ".join(report.lines())


@pytest.mark.parametrize(
    ("body", "reason"),
    [
        (b"", "no OPML file"),
        (b"hello", "no OPML file"),
        (b"http://127.0.0.1/", "no OPML file"),
        (b"<html><p>Hello</p></html>", "no OPML file"),
        (b"\x89PNG\r\n\x1a\n\x00\x00<", "no OPML file"),
        (opml(), "names no feeds"),
        (opml('<outline text="Only words"/>', f"<!-- {outline(A)} -->"), "names no feeds"),
        (opml(outline(A)) + b" " * MAX_BYTES, "larger than 1 MB"),
    ],
)
def test_a_file_without_feeds_says_why(db: None, body: bytes, reason: str) -> None:
    with pytest.raises(FeedError, match=reason):
        import_opml(body)
    assert not Feed.objects.exists()


@pytest.mark.parametrize(
    "piece", ["<", "<!--", "<![CDATA[>", "<![if>", "</", "<?", "<!DOCTYPE [", '<"', "<outline text='", "<script>", "<a "]
)
def test_a_hostile_file_costs_no_more_than_its_length(piece: str) -> None:
    """Each of these once took the parser half a minute or more."""
    with pytest.raises(FeedError):
        import_opml((piece * (MAX_BYTES // len(piece))).encode())


def test_an_entity_is_never_expanded(db: None) -> None:
    bomb = '<!DOCTYPE opml [<!ENTITY a "aaaa"><!ENTITY b "&a;&a;&a;">]>'
    import_opml(opml(outline(A, "&b;"), head=bomb))
    assert feeds() == {A: "&b;"}


# Out


def test_an_export_can_be_read_by_others_and_comes_back_whole(db: None) -> None:
    FeedFactory(url=f"{A}?x=1&y=<2>", title='Quotes " and <tags> &\x08', site_url="https://a.example/")
    FeedFactory(url=B, title="日本語")
    FeedFactory(url=C, is_active=False)
    document = export_opml(Feed.objects.filter(is_active=True))
    found = {one.get("xmlUrl"): (one.get("text"), one.get("htmlUrl")) for one in ElementTree.fromstring(document).iter("outline")}
    assert found == {f"{A}?x=1&y=<2>": ('Quotes " and <tags> &', "https://a.example/"), B: ("日本語", "")}
    Feed.objects.all().delete()
    assert import_opml(document.encode()).added == list(found)


# Commands


def run(*arguments: str) -> str:
    out = io.StringIO()
    call_command(*arguments, stdout=out)
    return out.getvalue()


def test_the_commands_import_and_export(db: None, tmp_path: Path) -> None:
    (tmp_path / "in.opml").write_bytes(opml(outline(A), outline("nowhere")))
    assert run("import_opml", str(tmp_path / "in.opml")) == "1 feed added.\nLeft out, for this is no web address: nowhere\n"
    assert A in run("export_opml")
    run("export_opml", str(tmp_path / "out.opml"))
    assert outlines(text_of((tmp_path / "out.opml").read_bytes())) == [(A, "A feed")]


@pytest.mark.parametrize(("name", "reason"), [("missing.opml", "No such file"), ("words.txt", "no OPML file")])
def test_a_file_that_cannot_be_imported_fails_in_words(db: None, tmp_path: Path, name: str, reason: str) -> None:
    (tmp_path / "words.txt").write_text("words")
    with pytest.raises(CommandError, match=reason):
        run("import_opml", str(tmp_path / name))


# Upload


def upload(client: Client, body: bytes) -> Any:
    return client.post(reverse("admin:articles_feed_opml"), {"file": SimpleUploadedFile("list.opml", body)}, follow=True)


def test_staff_upload_a_file_and_see_the_report(staff: Client) -> None:
    page = upload(staff, opml(outline(A), outline("<b>nowhere</b>".replace("<", "&lt;")))).content.decode()
    assert "1 feed added." in page
    assert "Left out, for this is no web address: &lt;b&gt;nowhere" in page
    assert list(feeds()) == [A]


def test_a_broken_upload_is_explained_beside_the_field(staff: Client) -> None:
    response = upload(staff, b"words")
    assert (response.status_code, "This is no OPML file." in response.content.decode()) == (200, True)
    assert "This field is required." in staff.post(reverse("admin:articles_feed_opml")).content.decode()
    assert not Feed.objects.exists()


def test_the_list_links_in_and_out(staff: Client) -> None:
    FeedFactory(url=A)
    page = staff.get(reverse("admin:articles_feed_changelist")).content.decode()
    for name in ("by_site", "opml", "opml_export"):
        assert reverse(f"admin:articles_feed_{name}") in page
    answer = staff.get(reverse("admin:articles_feed_opml_export"))
    assert answer["Content-Type"] == "text/x-opml; charset=utf-8"
    assert outlines(text_of(answer.content))[0][0] == A


@pytest.mark.parametrize("name", ["opml", "by_site"])
def test_only_who_may_add_feeds_sees_these_pages(client: Client, db: None, name: str) -> None:
    address = reverse(f"admin:articles_feed_{name}")
    assert client.post(address).status_code == 302
    client.force_login(UserFactory())
    assert client.post(address).status_code == 302
    client.force_login(UserFactory(is_staff=True))
    assert (client.get(address).status_code, client.post(address).status_code) == (403, 403)
