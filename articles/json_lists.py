"""Many values in one column of a statement, on both databases."""

from typing import Any

from django.db.models import Aggregate, JSONField, QuerySet, Subquery, Value


class JsonList(Aggregate):
    """The values as a list, in no order."""

    function = "JSON_GROUP_ARRAY"
    output_field = JSONField()

    def as_postgresql(self, compiler: Any, connection: Any, **context: Any) -> Any:
        return self.as_sql(compiler, connection, function="JSONB_AGG", **context)


def listed(rows: QuerySet, column: str) -> Subquery:
    """A column of all these rows (which may refer to the outer row) as one value; None if there are none, as mostly."""
    one_group = rows.order_by().annotate(group=Value(1)).values("group").annotate(listed=JsonList(column)).values("listed")
    return Subquery(one_group)
