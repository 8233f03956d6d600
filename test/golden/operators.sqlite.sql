-- eq "sales"
"field" = +?; -- ["sales"]
"field" = "other";
CASE json_type("json", +?) WHEN 'text' THEN json_extract("json", +?) = +? WHEN 'null' THEN FALSE END; -- ["$.\"key\"","$.\"key\"","sales"]

-- ne "Sales"
NOT ("field" = +?); -- ["Sales"]
NOT ("field" = "other");
NOT (CASE json_type("json", +?) WHEN 'text' THEN json_extract("json", +?) = +? WHEN 'null' THEN FALSE END); -- ["$.\"key\"","$.\"key\"","Sales"]

-- gt 10
"field" > +?; -- [10]
"field" > "other";
CASE json_type("json", +?) WHEN 'integer' THEN CAST(json_extract("json", +?) AS DOUBLE PRECISION) > +? WHEN 'real' THEN CAST(json_extract("json", +?) AS DOUBLE PRECISION) > +? END; -- ["$.\"key\"","$.\"key\"",10,"$.\"key\"",10]

-- gte 10
"field" >= +?; -- [10]
"field" >= "other";
CASE json_type("json", +?) WHEN 'integer' THEN CAST(json_extract("json", +?) AS DOUBLE PRECISION) >= +? WHEN 'real' THEN CAST(json_extract("json", +?) AS DOUBLE PRECISION) >= +? END; -- ["$.\"key\"","$.\"key\"",10,"$.\"key\"",10]

-- lt "adam"
"field" < +?; -- ["adam"]
"field" < "other";
CASE json_type("json", +?) WHEN 'text' THEN json_extract("json", +?) < +? END; -- ["$.\"key\"","$.\"key\"","adam"]

-- lte 10
"field" <= +?; -- [10]
"field" <= "other";
CASE json_type("json", +?) WHEN 'integer' THEN CAST(json_extract("json", +?) AS DOUBLE PRECISION) <= +? WHEN 'real' THEN CAST(json_extract("json", +?) AS DOUBLE PRECISION) <= +? END; -- ["$.\"key\"","$.\"key\"",10,"$.\"key\"",10]

-- between [1,5]
("field" >= +? AND "field" <= +?); -- [1,5]
CASE json_type("json", +?) WHEN 'text' THEN (NULL AND NULL) WHEN 'integer' THEN (CAST(json_extract("json", +?) AS DOUBLE PRECISION) >= +? AND CAST(json_extract("json", +?) AS DOUBLE PRECISION) <= +?) WHEN 'real' THEN (CAST(json_extract("json", +?) AS DOUBLE PRECISION) >= +? AND CAST(json_extract("json", +?) AS DOUBLE PRECISION) <= +?) END; -- ["$.\"key\"","$.\"key\"",1,"$.\"key\"",5,"$.\"key\"",1,"$.\"key\"",5]

-- in ["draft","published"]
"field" IN (+?, +?); -- ["draft","published"]
CASE json_type("json", +?) WHEN 'text' THEN json_extract("json", +?) IN (+?, +?) WHEN 'null' THEN FALSE END; -- ["$.\"key\"","$.\"key\"","draft","published"]

-- nin ["draft","published"]
NOT ("field" IN (+?, +?)); -- ["draft","published"]
NOT (CASE json_type("json", +?) WHEN 'text' THEN json_extract("json", +?) IN (+?, +?) WHEN 'null' THEN FALSE END); -- ["$.\"key\"","$.\"key\"","draft","published"]

-- contains "0%"
instr("field", +?) > 0; -- ["0%"]
CASE json_type("json", +?) WHEN 'text' THEN instr(json_extract("json", +?), +?) > 0 END; -- ["$.\"key\"","$.\"key\"","0%"]

-- ncontains "0_"
NOT (instr("field", +?) > 0); -- ["0_"]
NOT (CASE json_type("json", +?) WHEN 'text' THEN instr(json_extract("json", +?), +?) > 0 END); -- ["$.\"key\"","$.\"key\"","0_"]

-- startsWith "INV-"
("field" >= +? AND "field" < +?); -- ["INV-","INV."]
CASE json_type("json", +?) WHEN 'text' THEN (json_extract("json", +?) >= +? AND json_extract("json", +?) < +?) END; -- ["$.\"key\"","$.\"key\"","INV-","$.\"key\"","INV."]

-- endsWith "@example.org"
iif("field" = '', FALSE, substr(CAST("field" AS BLOB), +?) = CAST(+? AS BLOB)); -- [-12,"@example.org"]
CASE json_type("json", +?) WHEN 'text' THEN iif(json_extract("json", +?) = '', FALSE, substr(CAST(json_extract("json", +?) AS BLOB), +?) = CAST(+? AS BLOB)) END; -- ["$.\"key\"","$.\"key\"","$.\"key\"",-12,"@example.org"]

-- icontains "straße"
instr(bailiwick_fold_case("field"), +?) > 0; -- ["STRASSE"]
CASE json_type("json", +?) WHEN 'text' THEN instr(bailiwick_fold_case(json_extract("json", +?)), +?) > 0 END; -- ["$.\"key\"","$.\"key\"","STRASSE"]

-- incontains "weg"
NOT (instr(bailiwick_fold_case("field"), +?) > 0); -- ["WEG"]
NOT (CASE json_type("json", +?) WHEN 'text' THEN instr(bailiwick_fold_case(json_extract("json", +?)), +?) > 0 END); -- ["$.\"key\"","$.\"key\"","WEG"]

-- istartsWith "ÄR"
instr(bailiwick_fold_case("field"), +?) = 1; -- ["ÄR"]
CASE json_type("json", +?) WHEN 'text' THEN instr(bailiwick_fold_case(json_extract("json", +?)), +?) = 1 END; -- ["$.\"key\"","$.\"key\"","ÄR"]

-- iendsWith "δος"
iif(bailiwick_fold_case("field") = '', FALSE, substr(CAST(bailiwick_fold_case("field") AS BLOB), +?) = CAST(+? AS BLOB)); -- [-6,"ΔΟΣ"]
CASE json_type("json", +?) WHEN 'text' THEN iif(bailiwick_fold_case(json_extract("json", +?)) = '', FALSE, substr(CAST(bailiwick_fold_case(json_extract("json", +?)) AS BLOB), +?) = CAST(+? AS BLOB)) END; -- ["$.\"key\"","$.\"key\"","$.\"key\"",-6,"ΔΟΣ"]

-- like "report-????.pdf"
(("field" >= +? AND "field" < +?) AND "field" GLOB +?); -- ["report-","report.","report-????.pdf"]
CASE json_type("json", +?) WHEN 'text' THEN ((json_extract("json", +?) >= +? AND json_extract("json", +?) < +?) AND json_extract("json", +?) GLOB +?) END; -- ["$.\"key\"","$.\"key\"","report-","$.\"key\"","report.","$.\"key\"","report-????.pdf"]

-- matches "^INV-\\d{4}-"
-- in memory
-- in memory

-- exists true
"field" IS NOT NULL;
json_type("json", +?) IS NOT NULL; -- ["$.\"key\""]

-- isNull true
"field" IS NULL;
coalesce(json_type("json", +?), 'null') = 'null'; -- ["$.\"key\""]

-- empty true
"field" = '';
CASE json_type("json", +?) WHEN 'text' THEN json_extract("json", +?) = '' WHEN 'array' THEN CASE WHEN json_extract("json", +?) IS NULL THEN NULL ELSE NOT EXISTS (SELECT 1 FROM (SELECT json_extract("json", +?) AS list) AS stored, json_each(stored.list)) END END; -- ["$.\"key\"","$.\"key\"","$.\"key\"","$.\"key\""]

-- has "red"
CASE WHEN "field" IS NULL THEN NULL ELSE EXISTS (SELECT 1 FROM (SELECT "field" AS list) AS stored, json_each(stored.list) WHERE value IN (+?)) END; -- ["red"]
-- in memory

-- hasAny ["green","blue"]
CASE WHEN "field" IS NULL THEN NULL ELSE EXISTS (SELECT 1 FROM (SELECT "field" AS list) AS stored, json_each(stored.list) WHERE value IN (+?, +?)) END; -- ["green","blue"]
-- in memory

-- hasAll ["red","blue"]
CASE WHEN "field" IS NULL THEN NULL ELSE (SELECT count(DISTINCT value) FROM (SELECT "field" AS list) AS stored, json_each(stored.list) WHERE value IN (+?, +?)) = +? END; -- ["red","blue",2]
-- in memory

-- subsetOf ["red","blue"]
CASE WHEN "field" IS NULL THEN NULL ELSE NOT EXISTS (SELECT 1 FROM (SELECT "field" AS list) AS stored, json_each(stored.list) WHERE NOT (value IN (+?, +?))) END; -- ["red","blue"]
-- in memory

-- before "2026-01-31T10:00:00+01:00"
"field" < +?; -- ["2026-01-31T09:00:00.000Z"]
"field" < "other";
-- in memory

-- after "2026-01-31"
"field" > +?; -- ["2026-01-31"]
"field" > "other";
-- in memory

-- withinLast "1h"
("field" >= +? AND "field" <= +?); -- ["2026-01-31T11:00:00.000Z","2026-01-31T12:00:00.000Z"]
-- in memory

-- withinNext "1d"
("field" >= +? AND "field" <= +?); -- ["2026-01-31T12:00:00.000Z","2026-02-01T12:00:00.000Z"]
-- in memory

-- timeOfDayBetween ["09:00","17:00"]
-- in memory
-- in memory

-- dayOfWeekIn [6,7]
-- in memory
-- in memory

-- cidr "10.0.0.0/8"
-- in memory
-- in memory

-- ncidr "10.0.0.0/8"
-- in memory
-- in memory
