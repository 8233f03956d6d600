-- eq "sales"
"field" = ?; -- ["sales"]

-- ne "Sales"
NOT ("field" = ?); -- ["Sales"]

-- gt 10
"field" > ?; -- [10]

-- gte 10
"field" >= ?; -- [10]

-- lt "adam"
"field" < ?; -- ["adam"]

-- lte 10
"field" <= ?; -- [10]

-- between [1,5]
("field" >= ? AND "field" <= ?); -- [1,5]

-- in ["draft","published"]
"field" IN (?, ?); -- ["draft","published"]

-- nin ["draft","published"]
NOT ("field" IN (?, ?)); -- ["draft","published"]

-- contains "0%"
instr("field", ?) > 0; -- ["0%"]

-- ncontains "0_"
NOT (instr("field", ?) > 0); -- ["0_"]

-- startsWith "INV-"
("field" >= ? AND "field" < ?); -- ["INV-","INV."]

-- endsWith "@example.org"
iif("field" = '', FALSE, substr(CAST("field" AS BLOB), ?) = CAST(? AS BLOB)); -- [-12,"@example.org"]

-- icontains "straße"
instr(bailiwick_fold_case("field"), ?) > 0; -- ["STRASSE"]

-- incontains "weg"
NOT (instr(bailiwick_fold_case("field"), ?) > 0); -- ["WEG"]

-- istartsWith "ÄR"
instr(bailiwick_fold_case("field"), ?) = 1; -- ["ÄR"]

-- iendsWith "δος"
iif(bailiwick_fold_case("field") = '', FALSE, substr(CAST(bailiwick_fold_case("field") AS BLOB), ?) = CAST(? AS BLOB)); -- [-6,"ΔΟΣ"]

-- like "report-????.pdf"
"field" GLOB ?; -- ["report-????.pdf"]

-- matches "^INV-\\d{4}-"
-- in memory

-- exists true
"field" IS NOT NULL;

-- isNull true
"field" IS NULL;

-- empty true
"field" = '';

-- has "red"
CASE WHEN "field" IS NULL THEN NULL ELSE EXISTS (SELECT 1 FROM (SELECT "field" AS list) AS stored, json_each(stored.list) WHERE value IN (?)) END; -- ["red"]

-- hasAny ["green","blue"]
CASE WHEN "field" IS NULL THEN NULL ELSE EXISTS (SELECT 1 FROM (SELECT "field" AS list) AS stored, json_each(stored.list) WHERE value IN (?, ?)) END; -- ["green","blue"]

-- hasAll ["red","blue"]
CASE WHEN "field" IS NULL THEN NULL ELSE (SELECT count(DISTINCT value) FROM (SELECT "field" AS list) AS stored, json_each(stored.list) WHERE value IN (?, ?)) = ? END; -- ["red","blue",2]

-- subsetOf ["red","blue"]
CASE WHEN "field" IS NULL THEN NULL ELSE NOT EXISTS (SELECT 1 FROM (SELECT "field" AS list) AS stored, json_each(stored.list) WHERE NOT (value IN (?, ?))) END; -- ["red","blue"]

-- before "2026-01-31T10:00:00+01:00"
"field" < ?; -- ["2026-01-31T09:00:00.000Z"]

-- after "2026-01-31"
"field" > ?; -- ["2026-01-31"]

-- withinLast "1h"
("field" >= ? AND "field" <= ?); -- ["2026-01-31T11:00:00.000Z","2026-01-31T12:00:00.000Z"]

-- withinNext "1d"
("field" >= ? AND "field" <= ?); -- ["2026-01-31T12:00:00.000Z","2026-02-01T12:00:00.000Z"]

-- timeOfDayBetween ["09:00","17:00"]
-- in memory

-- dayOfWeekIn [6,7]
-- in memory

-- cidr "10.0.0.0/8"
-- in memory

-- ncidr "10.0.0.0/8"
-- in memory
