-- eq "sales"
"field" = $1; -- ["sales"]
"field" = "other";
CASE CASE json_typeof("json" -> $1::text) WHEN 'string' THEN 'text' WHEN 'number' THEN 'real' WHEN 'boolean' THEN ("json" -> $2::text #>> '{}') ELSE json_typeof("json" -> $3::text) END WHEN 'text' THEN (("json" -> $4::text #>> '{}') COLLATE "C") = $5 WHEN 'null' THEN FALSE END; -- ["key","key","key","key","sales"]

-- ne "Sales"
NOT ("field" = $1); -- ["Sales"]
NOT ("field" = "other");
NOT (CASE CASE json_typeof("json" -> $1::text) WHEN 'string' THEN 'text' WHEN 'number' THEN 'real' WHEN 'boolean' THEN ("json" -> $2::text #>> '{}') ELSE json_typeof("json" -> $3::text) END WHEN 'text' THEN (("json" -> $4::text #>> '{}') COLLATE "C") = $5 WHEN 'null' THEN FALSE END); -- ["key","key","key","key","Sales"]

-- gt 10
"field" > $1::bigint; -- ["10"]
"field" > "other";
CASE CASE json_typeof("json" -> $1::text) WHEN 'string' THEN 'text' WHEN 'number' THEN 'real' WHEN 'boolean' THEN ("json" -> $2::text #>> '{}') ELSE json_typeof("json" -> $3::text) END WHEN 'integer' THEN CASE json_typeof("json" -> $4::text) WHEN 'number' THEN CAST(("json" -> $5::text #>> '{}') AS double precision) END > $6::bigint WHEN 'real' THEN CASE json_typeof("json" -> $7::text) WHEN 'number' THEN CAST(("json" -> $8::text #>> '{}') AS double precision) END > $9::bigint END; -- ["key","key","key","key","key","10","key","key","10"]

-- gte 10
"field" >= $1::bigint; -- ["10"]
"field" >= "other";
CASE CASE json_typeof("json" -> $1::text) WHEN 'string' THEN 'text' WHEN 'number' THEN 'real' WHEN 'boolean' THEN ("json" -> $2::text #>> '{}') ELSE json_typeof("json" -> $3::text) END WHEN 'integer' THEN CASE json_typeof("json" -> $4::text) WHEN 'number' THEN CAST(("json" -> $5::text #>> '{}') AS double precision) END >= $6::bigint WHEN 'real' THEN CASE json_typeof("json" -> $7::text) WHEN 'number' THEN CAST(("json" -> $8::text #>> '{}') AS double precision) END >= $9::bigint END; -- ["key","key","key","key","key","10","key","key","10"]

-- lt "adam"
"field" < $1; -- ["adam"]
"field" < "other";
CASE CASE json_typeof("json" -> $1::text) WHEN 'string' THEN 'text' WHEN 'number' THEN 'real' WHEN 'boolean' THEN ("json" -> $2::text #>> '{}') ELSE json_typeof("json" -> $3::text) END WHEN 'text' THEN (("json" -> $4::text #>> '{}') COLLATE "C") < $5 END; -- ["key","key","key","key","adam"]

-- lte 10
"field" <= $1::bigint; -- ["10"]
"field" <= "other";
CASE CASE json_typeof("json" -> $1::text) WHEN 'string' THEN 'text' WHEN 'number' THEN 'real' WHEN 'boolean' THEN ("json" -> $2::text #>> '{}') ELSE json_typeof("json" -> $3::text) END WHEN 'integer' THEN CASE json_typeof("json" -> $4::text) WHEN 'number' THEN CAST(("json" -> $5::text #>> '{}') AS double precision) END <= $6::bigint WHEN 'real' THEN CASE json_typeof("json" -> $7::text) WHEN 'number' THEN CAST(("json" -> $8::text #>> '{}') AS double precision) END <= $9::bigint END; -- ["key","key","key","key","key","10","key","key","10"]

-- between [1,5]
("field" >= $1::bigint AND "field" <= $2::bigint); -- ["1","5"]
CASE CASE json_typeof("json" -> $1::text) WHEN 'string' THEN 'text' WHEN 'number' THEN 'real' WHEN 'boolean' THEN ("json" -> $2::text #>> '{}') ELSE json_typeof("json" -> $3::text) END WHEN 'text' THEN (NULL AND NULL) WHEN 'integer' THEN (CASE json_typeof("json" -> $4::text) WHEN 'number' THEN CAST(("json" -> $5::text #>> '{}') AS double precision) END >= $6::bigint AND CASE json_typeof("json" -> $7::text) WHEN 'number' THEN CAST(("json" -> $8::text #>> '{}') AS double precision) END <= $9::bigint) WHEN 'real' THEN (CASE json_typeof("json" -> $10::text) WHEN 'number' THEN CAST(("json" -> $11::text #>> '{}') AS double precision) END >= $12::bigint AND CASE json_typeof("json" -> $13::text) WHEN 'number' THEN CAST(("json" -> $14::text #>> '{}') AS double precision) END <= $15::bigint) END; -- ["key","key","key","key","key","1","key","key","5","key","key","1","key","key","5"]

-- in ["draft","published"]
"field" IN ($1, $2); -- ["draft","published"]
CASE CASE json_typeof("json" -> $1::text) WHEN 'string' THEN 'text' WHEN 'number' THEN 'real' WHEN 'boolean' THEN ("json" -> $2::text #>> '{}') ELSE json_typeof("json" -> $3::text) END WHEN 'text' THEN (("json" -> $4::text #>> '{}') COLLATE "C") IN ($5, $6) WHEN 'null' THEN FALSE END; -- ["key","key","key","key","draft","published"]

-- nin ["draft","published"]
NOT ("field" IN ($1, $2)); -- ["draft","published"]
NOT (CASE CASE json_typeof("json" -> $1::text) WHEN 'string' THEN 'text' WHEN 'number' THEN 'real' WHEN 'boolean' THEN ("json" -> $2::text #>> '{}') ELSE json_typeof("json" -> $3::text) END WHEN 'text' THEN (("json" -> $4::text #>> '{}') COLLATE "C") IN ($5, $6) WHEN 'null' THEN FALSE END); -- ["key","key","key","key","draft","published"]

-- contains "0%"
strpos("field", $1) > 0; -- ["0%"]
CASE CASE json_typeof("json" -> $1::text) WHEN 'string' THEN 'text' WHEN 'number' THEN 'real' WHEN 'boolean' THEN ("json" -> $2::text #>> '{}') ELSE json_typeof("json" -> $3::text) END WHEN 'text' THEN strpos((("json" -> $4::text #>> '{}') COLLATE "C"), $5) > 0 END; -- ["key","key","key","key","0%"]

-- ncontains "0_"
NOT (strpos("field", $1) > 0); -- ["0_"]
NOT (CASE CASE json_typeof("json" -> $1::text) WHEN 'string' THEN 'text' WHEN 'number' THEN 'real' WHEN 'boolean' THEN ("json" -> $2::text #>> '{}') ELSE json_typeof("json" -> $3::text) END WHEN 'text' THEN strpos((("json" -> $4::text #>> '{}') COLLATE "C"), $5) > 0 END); -- ["key","key","key","key","0_"]

-- startsWith "INV-"
("field" >= $1 AND "field" < $2); -- ["INV-","INV."]
CASE CASE json_typeof("json" -> $1::text) WHEN 'string' THEN 'text' WHEN 'number' THEN 'real' WHEN 'boolean' THEN ("json" -> $2::text #>> '{}') ELSE json_typeof("json" -> $3::text) END WHEN 'text' THEN ((("json" -> $4::text #>> '{}') COLLATE "C") >= $5 AND (("json" -> $6::text #>> '{}') COLLATE "C") < $7) END; -- ["key","key","key","key","INV-","key","INV."]

-- endsWith "@example.org"
right("field", $1::int) = $2; -- [12,"@example.org"]
CASE CASE json_typeof("json" -> $1::text) WHEN 'string' THEN 'text' WHEN 'number' THEN 'real' WHEN 'boolean' THEN ("json" -> $2::text #>> '{}') ELSE json_typeof("json" -> $3::text) END WHEN 'text' THEN right((("json" -> $4::text #>> '{}') COLLATE "C"), $5::int) = $6 END; -- ["key","key","key","key",12,"@example.org"]

-- icontains "straße"
strpos(bailiwick_fold_case_2_17_0("field"), $1) > 0; -- ["STRASSE"]
CASE CASE json_typeof("json" -> $1::text) WHEN 'string' THEN 'text' WHEN 'number' THEN 'real' WHEN 'boolean' THEN ("json" -> $2::text #>> '{}') ELSE json_typeof("json" -> $3::text) END WHEN 'text' THEN strpos(bailiwick_fold_case_2_17_0((("json" -> $4::text #>> '{}') COLLATE "C")), $5) > 0 END; -- ["key","key","key","key","STRASSE"]

-- incontains "weg"
NOT (strpos(bailiwick_fold_case_2_17_0("field"), $1) > 0); -- ["WEG"]
NOT (CASE CASE json_typeof("json" -> $1::text) WHEN 'string' THEN 'text' WHEN 'number' THEN 'real' WHEN 'boolean' THEN ("json" -> $2::text #>> '{}') ELSE json_typeof("json" -> $3::text) END WHEN 'text' THEN strpos(bailiwick_fold_case_2_17_0((("json" -> $4::text #>> '{}') COLLATE "C")), $5) > 0 END); -- ["key","key","key","key","WEG"]

-- istartsWith "ÄR"
strpos(bailiwick_fold_case_2_17_0("field"), $1) = 1; -- ["ÄR"]
CASE CASE json_typeof("json" -> $1::text) WHEN 'string' THEN 'text' WHEN 'number' THEN 'real' WHEN 'boolean' THEN ("json" -> $2::text #>> '{}') ELSE json_typeof("json" -> $3::text) END WHEN 'text' THEN strpos(bailiwick_fold_case_2_17_0((("json" -> $4::text #>> '{}') COLLATE "C")), $5) = 1 END; -- ["key","key","key","key","ÄR"]

-- iendsWith "δος"
right(bailiwick_fold_case_2_17_0("field"), $1::int) = $2; -- [3,"ΔΟΣ"]
CASE CASE json_typeof("json" -> $1::text) WHEN 'string' THEN 'text' WHEN 'number' THEN 'real' WHEN 'boolean' THEN ("json" -> $2::text #>> '{}') ELSE json_typeof("json" -> $3::text) END WHEN 'text' THEN right(bailiwick_fold_case_2_17_0((("json" -> $4::text #>> '{}') COLLATE "C")), $5::int) = $6 END; -- ["key","key","key","key",3,"ΔΟΣ"]

-- like "report-????.pdf"
(("field" >= $1 AND "field" < $2) AND "field" LIKE $3); -- ["report-","report.","report-____.pdf"]
CASE CASE json_typeof("json" -> $1::text) WHEN 'string' THEN 'text' WHEN 'number' THEN 'real' WHEN 'boolean' THEN ("json" -> $2::text #>> '{}') ELSE json_typeof("json" -> $3::text) END WHEN 'text' THEN (((("json" -> $4::text #>> '{}') COLLATE "C") >= $5 AND (("json" -> $6::text #>> '{}') COLLATE "C") < $7) AND (("json" -> $8::text #>> '{}') COLLATE "C") LIKE $9) END; -- ["key","key","key","key","report-","key","report.","key","report-____.pdf"]

-- matches "^INV-\\d{4}-"
-- in memory
-- in memory

-- exists true
"field" IS NOT NULL;
CASE json_typeof("json" -> $1::text) WHEN 'string' THEN 'text' WHEN 'number' THEN 'real' WHEN 'boolean' THEN ("json" -> $2::text #>> '{}') ELSE json_typeof("json" -> $3::text) END IS NOT NULL; -- ["key","key","key"]

-- isNull true
"field" IS NULL;
coalesce(CASE json_typeof("json" -> $1::text) WHEN 'string' THEN 'text' WHEN 'number' THEN 'real' WHEN 'boolean' THEN ("json" -> $2::text #>> '{}') ELSE json_typeof("json" -> $3::text) END, 'null') = 'null'; -- ["key","key","key"]

-- empty true
"field" = '';
CASE CASE json_typeof("json" -> $1::text) WHEN 'string' THEN 'text' WHEN 'number' THEN 'real' WHEN 'boolean' THEN ("json" -> $2::text #>> '{}') ELSE json_typeof("json" -> $3::text) END WHEN 'text' THEN (("json" -> $4::text #>> '{}') COLLATE "C") = '' WHEN 'array' THEN CASE WHEN CASE json_typeof("json" -> $5::text) WHEN 'array' THEN "json" -> $6::text END IS NULL THEN NULL ELSE NOT EXISTS (SELECT 1 FROM json_array_elements_text(CASE json_typeof("json" -> $7::text) WHEN 'array' THEN "json" -> $8::text END) AS item(value)) END END; -- ["key","key","key","key","key","key","key","key"]

-- has "red"
CASE WHEN "field" IS NULL THEN NULL ELSE EXISTS (SELECT 1 FROM json_array_elements_text("field") AS item(value) WHERE value IN ($1)) END; -- ["red"]
-- in memory

-- hasAny ["green","blue"]
CASE WHEN "field" IS NULL THEN NULL ELSE EXISTS (SELECT 1 FROM json_array_elements_text("field") AS item(value) WHERE value IN ($1, $2)) END; -- ["green","blue"]
-- in memory

-- hasAll ["red","blue"]
CASE WHEN "field" IS NULL THEN NULL ELSE (SELECT count(DISTINCT value) FROM json_array_elements_text("field") AS item(value) WHERE value IN ($1, $2)) = $3 END; -- ["red","blue",2]
-- in memory

-- subsetOf ["red","blue"]
CASE WHEN "field" IS NULL THEN NULL ELSE NOT EXISTS (SELECT 1 FROM json_array_elements_text("field") AS item(value) WHERE NOT (value IN ($1, $2))) END; -- ["red","blue"]
-- in memory

-- before "2026-01-31T10:00:00+01:00"
"field" < $1; -- ["2026-01-31T09:00:00.000Z"]
"field" < "other";
-- in memory

-- after "2026-01-31"
"field" > $1; -- ["2026-01-31"]
"field" > "other";
-- in memory

-- withinLast "1h"
("field" >= $1 AND "field" <= $2); -- ["2026-01-31T11:00:00.000Z","2026-01-31T12:00:00.000Z"]
-- in memory

-- withinNext "1d"
("field" >= $1 AND "field" <= $2); -- ["2026-01-31T12:00:00.000Z","2026-02-01T12:00:00.000Z"]
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
