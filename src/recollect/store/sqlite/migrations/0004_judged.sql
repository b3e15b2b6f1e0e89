-- By what a contradiction was told, and how sure that is. Those of before have neither.

alter table contradictions add column why text;

alter table contradictions add column confidence real;
