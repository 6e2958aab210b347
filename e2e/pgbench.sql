\set id random(1, 1000000000000) * 64 + :client_id
\set account random(1, 100)
BEGIN;
INSERT INTO bench_events VALUES (:id, :account, 1, now());
UPDATE bench_accounts SET balance = balance + 1 WHERE id = :account;
SELECT balance FROM bench_accounts WHERE id = :account \gset
COMMIT;
\if :balance < 1
SELECT 1 / 0;
\endif
SELECT n FROM bench_totals WHERE account = :account;
