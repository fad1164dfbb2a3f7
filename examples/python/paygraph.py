"""A client of the paygraph gateway in the standard library of Python, 3.9 or newer.

Requests are repeated only if a repetition is safe. A create is always repeated with the same idempotency key.
"""

import http.client
import json
import random
import time
import urllib.error
import urllib.request

# Longer than a call to the gateway can take: its timeouts for the service, and its lookups after a lost response.
TIMEOUT_SECONDS = 60

CREATE_PAYOUT = """mutation CreatePayout($input: CreatePayoutInput!) {
  createPayout(input: $input) {
    __typename
    ... on PayoutSuccess { replayed payout { ... on PayoutResource { transactionId externalId status } } }
    ... on UserError { code message }
    ... on RequestInProgressError { retryAfterMs }
  }
}"""

CREATE_PAYMENT = """mutation CreatePayment($input: CreatePaymentInput!) {
  createPayment(input: $input) {
    __typename
    ... on PaymentSuccess { replayed payment { ... on PaymentResource { transactionId externalId status } } }
    ... on UserError { code message }
    ... on RequestInProgressError { retryAfterMs }
  }
}"""

CONFIRM_PAYMENT = """mutation ConfirmPayment($input: ConfirmPaymentInput!) {
  confirmPayment(input: $input) {
    __typename
    ... on PaymentSuccess { replayed payment { ... on PaymentResource { transactionId status } } }
    ... on UserError { code message }
    ... on RequestInProgressError { retryAfterMs }
  }
}"""

PAYMENT = """query Payment($channel: UUID!, $transactionId: UUID!) {
  payment(channel: $channel, transactionId: $transactionId) {
    ... on PaymentResource {
      transactionId
      status
      nextAction {
        ... on ProvideUtrAction { confirmWith }
        ... on ProvideCodeAction { confirmWith }
        ... on ConfirmTransferAction { confirmWith }
      }
    }
  }
}"""

PAYOUT_BY_EXTERNAL_ID = """query PayoutByExternalId($channel: UUID!, $externalId: String!) {
  payout(channel: $channel, externalId: $externalId) { ... on PayoutResource { transactionId status } }
}"""

PAYMENT_UPDATED = """subscription PaymentUpdated($channel: UUID!, $transactionId: UUID!) {
  paymentUpdated(channel: $channel, transactionId: $transactionId) {
    ... on PaymentResource { transactionId status error { code message } }
  }
}"""

ATTEMPTS = """query Attempts($channel: UUID!, $outcome: AttemptOutcome, $operation: AttemptOperation, $externalId: String,
    $startedAfter: Timestamp, $startedBefore: Timestamp, $after: String) {
  attempts(channel: $channel, outcome: $outcome, operation: $operation, externalId: $externalId,
      startedAfter: $startedAfter, startedBefore: $startedBefore, first: 100, after: $after) {
    edges {
      node {
        idempotencyKey operation externalId outcome startedAt
        transactionId amount { currency value } paymentMethod payoutMethod
      }
    }
    pageInfo { hasNextPage endCursor }
  }
}"""


class GatewayError(Exception):
    """Raised if a call returns no data: the error of the gateway, or NO_ANSWER without a valid response."""

    def __init__(self, code, message, retryable, retry_after=None):
        super().__init__(f"{code}: {message}")
        self.code = code
        self.retryable = retryable
        self.retry_after = retry_after  # in seconds; None if the response has none


class NoRedirects(urllib.request.HTTPRedirectHandler):
    """Returns redirects as responses, because urllib would send the client key to the target."""

    def redirect_request(self, *_):
        return None


OPENER = urllib.request.build_opener(NoRedirects)


class Gateway:
    """The gateway at a URL such as https://gateway.example, with a client key."""

    def __init__(self, url, key=None, timeout=TIMEOUT_SECONDS):
        self.url = url.rstrip("/")
        self.timeout = timeout
        self.headers = {"content-type": "application/json"}
        if key:
            self.headers["authorization"] = f"Bearer {key}"

    def execute(self, query, variables):
        """Sends one request and returns its data. Raises GatewayError."""
        try:
            with self.open("/graphql", query, variables) as response:
                return data_of(response)
        # Refused, timed out, or cut off, perhaps within the response: the request may have arrived.
        except (OSError, http.client.HTTPException) as error:
            raise GatewayError("NO_ANSWER", type(error).__name__, retryable=True) from error

    def execute_until(self, deadline, query, variables):
        """Repeats a request while its error is retryable, until the deadline. Raises the last GatewayError."""
        for wait in backoff():
            try:
                return self.execute(query, variables)
            except GatewayError as error:
                pause = longer_pause(error.retry_after, wait)
                if not error.retryable or time.monotonic() + pause > deadline:
                    raise
                time.sleep(pause)

    def open(self, path, query, variables, **headers):
        """Sends a request and returns the response, whatever its status."""
        body = json.dumps({"query": query, "variables": variables}).encode()
        request = urllib.request.Request(self.url + path, body, {**self.headers, **headers}, method="POST")
        try:
            return OPENER.open(request, timeout=self.timeout)
        except urllib.error.HTTPError as response:
            return response  # its body contains errors, as with HTTP 200


def data_of(response):
    """Returns the data of a response. Raises GatewayError if there is none."""
    header = response.headers.get("retry-after", "")
    retry_after = int(header) if header.isdigit() else None
    try:
        body = json.loads(response.read())
        errors, data = body.get("errors"), body.get("data")
    # Not a GraphQL response, for example that of a proxy.
    except (ValueError, AttributeError) as error:
        raise GatewayError("NO_ANSWER", f"HTTP {response.status}", True, retry_after) from error
    if errors:
        raise error_of(errors[0], retry_after)
    if not data:
        raise GatewayError("NO_ANSWER", f"HTTP {response.status}", True, retry_after)
    return data


def error_of(error, retry_after=None):
    details = error.get("extensions", {})
    if "retryAfterMs" in details:
        retry_after = details["retryAfterMs"] / 1000
    return GatewayError(details.get("code"), error.get("message"), details.get("retryable", False), retry_after)


def backoff():
    """Yields pauses in seconds, which double from 0.5 to 30, with jitter."""
    wait = 0.5
    while True:
        yield wait * random.uniform(0.75, 1)
        wait = min(2 * wait, 30)


def longer_pause(retry_after, wait):
    """Returns the longer pause in seconds: retry_after of the server (may be None) plus jitter, or that of backoff()."""
    return max((retry_after or 0) * random.uniform(1, 1.25), wait)


def create(gateway, query, variables, patience=300):
    """Creates a payment or payout once, however often it sends the request. Returns the result with its __typename.

    After OutcomeUnknownError and GatewayError keep the key, and repeat the call only with the same key, even days later.
    """
    deadline = time.monotonic() + patience
    for wait in backoff():
        (result,) = gateway.execute_until(deadline, query, variables).values()
        if result["__typename"] not in ("RequestInProgressError", "OutcomeUnknownError"):
            return result
        pause = longer_pause(result.get("retryAfterMs", 0) / 1000, wait)
        if time.monotonic() + pause > deadline:
            return result
        time.sleep(pause)


def create_payout(gateway, payout, patience=300):
    return create(gateway, CREATE_PAYOUT, {"input": payout}, patience)


def create_payment(gateway, payment, patience=300):
    return create(gateway, CREATE_PAYMENT, {"input": payment}, patience)


def find_payout(gateway, channel, external_id, patience=60):
    """Returns the payout with an external id, or None. Right after a create None does not prove that it failed."""
    variables = {"channel": channel, "externalId": external_id}
    return gateway.execute_until(time.monotonic() + patience, PAYOUT_BY_EXTERNAL_ID, variables)["payout"]


def confirm_payment(gateway, channel, transaction_id, confirmation, patience=60):
    """Confirms a payment and returns the result.

    A confirm has no key. Whenever the outcome of one is unknown, the payment is looked up, and the same confirm is
    repeated only while the payment waits for it. Returns None if the payment no longer waits for it.
    """
    deadline = time.monotonic() + patience
    payment = {"channel": channel, "transactionId": transaction_id}
    for wait in backoff():
        pause = wait
        try:
            variables = {"input": {**payment, "confirmation": confirmation}}
            result = gateway.execute(CONFIRM_PAYMENT, variables)["confirmPayment"]
            if result["__typename"] not in ("RequestInProgressError", "OutcomeUnknownError"):
                return result
            pause = longer_pause(result.get("retryAfterMs", 0) / 1000, wait)
        except GatewayError as error:
            if not error.retryable:
                raise
            pause = longer_pause(error.retry_after, wait)
        if time.monotonic() + pause > deadline:
            raise TimeoutError("It is not known whether the payment was confirmed: look it up first.")
        time.sleep(pause)
        found = gateway.execute_until(deadline, PAYMENT, payment)["payment"]
        if found and "confirmWith" not in (found["nextAction"] or {}):
            return None


def watch_payment(gateway, channel, transaction_id):
    """Yields the state of a payment at once, then every change; ends after COMPLETED or FAILED."""
    variables = {"channel": channel, "transactionId": transaction_id}
    pauses = backoff()
    while True:
        pause = next(pauses)
        try:
            with gateway.open("/graphql/stream", PAYMENT_UPDATED, variables, accept="text/event-stream") as stream:
                if stream.status != 200:
                    data_of(stream)
                for event, data in events(stream):
                    if event == "complete":
                        return
                    if data.get("errors"):
                        raise error_of(data["errors"][0])
                    pauses = backoff()
                    yield data["data"]["paymentUpdated"]
        except GatewayError as error:
            if not error.retryable:
                raise
            pause = longer_pause(error.retry_after, pause)
        except (OSError, http.client.HTTPException):
            pass
        # A stream that ends without complete was cut off: connect again, and continue with the current state.
        time.sleep(pause)


def events(stream):
    """Yields the server-sent events of a stream, without heartbeats, which are comments."""
    event, data = "", ""
    for raw in stream:
        line = raw.decode().rstrip("\n")
        if line.startswith("event:"):
            event = line[6:].strip()
        elif line.startswith("data:"):
            data += line[5:].strip()
        elif line == "" and event:
            yield event, json.loads(data) if data else {}
            event, data = "", ""


def attempts(gateway, channel, patience=60, **filters):
    """Yields the attempts of this client, newest first, without a lookup at the service.

    Filters: outcome, operation, externalId, startedAfter (inclusive), startedBefore (exclusive).
    """
    after = None
    while True:
        variables = {"channel": channel, "after": after, **filters}
        page = gateway.execute_until(time.monotonic() + patience, ATTEMPTS, variables)["attempts"]
        for edge in page["edges"]:
            yield edge["node"]
        if not page["pageInfo"]["hasNextPage"]:
            return
        after = page["pageInfo"]["endCursor"]
