"""A program in Python with types that quicktype generates from the OpenAPI document of the newsroom example.

`newsroom` is the generated module: a dataclass for each request body and response, with conversions from and to JSON that
check every member. quicktype generates no requests: `Client` sends them. It uses the HTTP client of Pyodide, which runs Python
inside Node.js; elsewhere, use urllib.
"""

import json
from uuid import UUID

import newsroom as api
from pyodide.http import pyfetch


class Refused(Exception):
    """An error response: a problem of RFC 9457."""

    def __init__(self, problem: api.Problem):
        super().__init__(f"{problem.code}: {problem.detail}")
        self.problem = problem


class Client:
    """Sends typed requests and returns typed responses."""

    def __init__(self, url: str):
        self.url = url
        self.token = None

    async def send(self, method: str, path: str, answer, body=None, headers=None):
        """Sends a request; returns the response as an object of the class `answer`."""
        sent = {"content-type": "application/json", **(headers or {})}
        if self.token is not None:
            sent["authorization"] = f"Bearer {self.token}"
        options = {} if body is None else {"body": json.dumps(body.to_dict())}
        response = await pyfetch(self.url + path, method=method, headers=sent, **options)
        value = await response.json()
        if response.status >= 400:
            raise Refused(api.Problem.from_dict(value))
        return answer.from_dict(value)


async def main(url: str, email: str, password: str) -> None:
    client = Client(url)
    login = await client.send("POST", "/auth/login", api.AuthLoginResponse, api.AuthLoginRequest(email=email, password=password))
    client.token = login.token
    author = UUID(login.user.id)
    await write_articles(client, author)
    await list_articles(client)
    await create_if_not_exists(client, author)
    await send_batch(client, author)
    await manage_policies(client, author)
    refuse_mistakes(author)


async def write_articles(client: Client, author: UUID) -> None:
    """Creates five articles, updates and deletes the first. Members with a default may be omitted.

    Enums are compared by value, because quicktype derives the names of their classes from every place that has the same values.
    """
    budget = api.ArticleCreateRequest(title="A budget", slug="a-budget", author_id=author, fee="120.50")
    created = (await client.send("POST", "/api/Article", api.ArticleCreateResponse, budget)).data
    assert (created.status.value, created.fee, created.version) == ("draft", "120.50", 1)
    assert created.created_at.tzinfo is not None
    for slug in ["harbour", "museum", "stadium", "theatre"]:
        article = {"title": f"The {slug}", "slug": slug, "authorId": str(author), "status": "published", "tags": [slug]}
        await client.send("POST", "/api/Article", api.ArticleCreateResponse, api.ArticleCreateRequest.from_dict(article))

    path = f"/api/Article/{created.id}"
    change = api.ArticleUpdateRequest.from_dict({"department": "politics"})
    updated = await client.send("PUT", path, api.ArticleUpdateResponse, change, {"if-match": '"1"'})
    assert (updated.data.department.value, updated.data.version) == ("politics", 2)
    await expect("RECORD_VERSION", client.send("PUT", path, api.ArticleUpdateResponse, change, {"if-match": '"1"'}))
    await expect("RECORD_EXISTS", client.send("POST", "/api/Article", api.ArticleCreateResponse, budget))
    deleted = await client.send("DELETE", path, api.ArticleDeleteResponse)
    assert str(deleted.data.id) == str(created.id)


async def list_articles(client: Client) -> None:
    where = {"status": {"in": ["draft", "published"]}, "title": {"startsWith": "The "}, "createdAt": {"withinLast": "1d"}}
    asked = api.ArticleActionListRequest.from_dict({"where": where, "sort": ["-slug"], "limit": 3, "total": True})
    page = await client.send("POST", "/api/Article/list", api.ArticleActionListResponse, asked)
    assert [article.slug for article in page.data] == ["theatre", "stadium", "museum"]
    assert (page.total, page.data[0].status.value, page.data[0].tags) == (4, "published", ["theatre"])
    asked.cursor = page.next_cursor
    last = await client.send("POST", "/api/Article/list", api.ArticleActionListResponse, asked)
    assert ([article.slug for article in last.data], last.next_cursor) == (["harbour"], None)


async def create_if_not_exists(client: Client, author: UUID) -> None:
    value = {"title": "The festival", "slug": "festival", "authorId": str(author)}
    asked = api.ArticleActionCreateIfNotExistsRequest.from_dict({"filter": {"slug": "festival", "status": {"ne": "draft"}}, "data": value})
    answer = api.ArticleActionCreateIfNotExistsResponse
    first = await client.send("POST", "/api/Article/createIfNotExists", answer, asked)
    assert (first.created, first.data.slug) == (True, "festival")


async def send_batch(client: Client, author: UUID) -> None:
    """Creates an article with a comment and publishes it, all or nothing: `$0.id` is the id of the article."""
    requests = [
        {"resource": "Article", "action": "create", "data": {"title": "The bridge", "slug": "bridge", "authorId": str(author)}},
        {"resource": "Comment", "action": "create", "data": {"articleId": "$0.id", "text": "Well said"}},
        {"resource": "Article", "action": "update", "id": "$0.id", "data": {"status": "published"}},
        {"resource": "Article", "action": "list", "where": {"slug": "bridge", "status": {"in": ["published"]}}, "limit": 5},
    ]
    asked = api.BatchRunRequest.from_dict({"atomic": True, "requests": requests})
    results = await client.send("POST", "/api/batch", api.BatchRunResponse, asked)
    assert [result.status for result in results.data] == [201, 201, 200, 200]


async def manage_policies(client: Client, author: UUID) -> None:
    condition = {"field": "resource.status", "operator": "eq", "value": "published"}
    rules = [{"resource": "Article", "action": "read", "conditions": [condition]}]
    policy = api.AdminPoliciesCreateRequest.from_dict({"name": "Readers read published articles", "type": "ATTRIBUTE_BASED", "rules": rules})
    made = (await client.send("POST", "/admin/api/policies", api.AdminPoliciesCreateResponse, policy)).data
    assert (made.is_active, made.priority, made.rules[0].effect.value) == (True, 100, "ALLOW")
    question = api.AdminTestsAccessRequest.from_dict(
        {"user": {"id": str(author)}, "action": "read", "resource": {"name": "Article", "status": "draft"}}
    )
    test = await client.send("POST", "/admin/api/policies/test-access", api.AdminTestsAccessResponse, question)
    assert test.data.allowed is True
    decisions = await client.send("GET", "/admin/api/decisions?resource=Article&limit=5", api.AdminDecisionsListResponse)
    assert (decisions.data[0].allowed, decisions.data[0].user_id) == (True, str(author))


async def expect(code: str, sent) -> None:
    """Awaits a request that is refused with this code."""
    try:
        await sent
    except Refused as refused:
        assert refused.problem.code.value == code, refused
    else:
        raise AssertionError(f"expected {code}")


def refuse_mistakes(author: UUID) -> None:
    """The generated classes refuse values that the service would refuse."""
    article = {"title": "A budget", "slug": "a-budget", "authorId": str(author)}
    api.ArticleCreateRequest.from_dict(article)
    for wrong in [{**article, "status": "drafft"}, {**article, "title": 5}, {**article, "authorId": "Ada"}, {"title": "A budget"}]:
        try:
            api.ArticleCreateRequest.from_dict(wrong)
        except (AssertionError, TypeError, ValueError):
            continue
        raise AssertionError(f"expected a refusal of {wrong}")
