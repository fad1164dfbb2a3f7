"""Pays out, collects a payment, and reconciles both: python3 examples/python/tour.py <reference> [<value of the payout>]

PAYGRAPH_URL is the URL of the gateway (default http://127.0.0.1:4000), PAYGRAPH_KEY_FILE the file with your client key.
Prints one line of JSON for each step. It may be run again with the same reference: nothing is paid twice.
"""

import json
import os
import pathlib
import sys
from datetime import datetime, timedelta, timezone

import paygraph

CHANNEL = "7c1bd1e0-6b1b-4c8a-9d7e-0f5a4a3c2b10"


def payout_of(reference, value):
    """The key is derived from the reference, so that a program that was killed uses the same one again."""
    return {
        "idempotencyKey": f"payout {reference}",
        "externalId": reference,
        "channel": CHANNEL,
        "amount": {"currency": "BDT", "value": value},
        "method": {"bkash": {"accountNumber": "01712345678"}},
    }


def payment_of(reference):
    return {
        "idempotencyKey": f"payment {reference}",
        "externalId": f"order {reference}",
        "channel": CHANNEL,
        "amount": {"currency": "INR", "value": "10.00"},
        "method": {"upi": {"email": "ann@example.com"}},
    }


def print_step(step, result):
    print(json.dumps({step: result}), flush=True)


def main(reference, value="1500.00"):
    key_file = os.environ.get("PAYGRAPH_KEY_FILE")
    key = pathlib.Path(key_file).read_text().strip() if key_file else None
    gateway = paygraph.Gateway(os.environ.get("PAYGRAPH_URL", "http://127.0.0.1:4000"), key)
    started_after = datetime.now(timezone.utc) - timedelta(days=1)

    paid = paygraph.create_payout(gateway, payout_of(reference, value))
    print_step("createPayout", paid)
    print_step("payout", paygraph.find_payout(gateway, CHANNEL, reference))

    created = paygraph.create_payment(gateway, payment_of(reference))
    print_step("createPayment", created)
    if created["__typename"] == "PaymentSuccess":
        transaction_id = created["payment"]["transactionId"]
        confirmation = {"upi": {"utr": "123456789012"}}
        print_step("confirmPayment", paygraph.confirm_payment(gateway, CHANNEL, transaction_id, confirmation))
        for state in paygraph.watch_payment(gateway, CHANNEL, transaction_id):
            print_step("paymentUpdated", state)

    for attempt in paygraph.attempts(gateway, CHANNEL, startedAfter=started_after.isoformat()):
        print_step("attempt", attempt)


if __name__ == "__main__":
    main(*sys.argv[1:])
