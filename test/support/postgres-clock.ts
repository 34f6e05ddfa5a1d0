/**
 * A clock of a PostgreSQL database that stands until it is moved. Sessions whose search path is this one call it instead of the
 * server's own.
 */
export const standingClock = {
  searchPath: 'public,standing,pg_catalog',
  make: `create schema standing;
    create table standing.clock (ms bigint not null);
    insert into standing.clock values (1700000000000);
    create function standing.clock_timestamp() returns timestamptz language sql volatile
      as 'select to_timestamp(ms / 1000.0) from standing.clock'`,
  move: (milliseconds: number) => `update standing.clock set ms = ms + ${milliseconds}`,
}

/** A clock of a PostgreSQL database that runs some time after the real one. */
export const shiftedClock = {
  searchPath: 'public,shifted,pg_catalog',
  make: `create schema shifted;
    create table shifted.clock (ms bigint not null);
    insert into shifted.clock values (0);
    create function shifted.clock_timestamp() returns timestamptz language sql volatile
      as 'select pg_catalog.clock_timestamp() + ms * interval ''1 millisecond'' from shifted.clock'`,
  set: (milliseconds: number) => `update shifted.clock set ms = ${milliseconds}`,
}
