CREATE TABLE meta (
    name TEXT PRIMARY KEY,
    value ANY
) WITHOUT ROWID;

-- One row an exchange, narrow: what lists and queries look at.
CREATE TABLE capture (
    seq INTEGER PRIMARY KEY AUTOINCREMENT, -- the order of arrival, and the cursor
    id TEXT NOT NULL UNIQUE,
    started_us INTEGER NOT NULL,
    state TEXT NOT NULL,                   -- `open` until its reading is final
    verdict TEXT,
    deleted_us INTEGER,                    -- when it was deleted; the row follows 10 s later
    errors INTEGER NOT NULL DEFAULT 0,
    warnings INTEGER NOT NULL DEFAULT 0,
    notes INTEGER NOT NULL DEFAULT 0,
    status INTEGER,
    streamed INTEGER,
    upstream TEXT NOT NULL,
    path TEXT NOT NULL,
    format TEXT,
    model TEXT,
    tools TEXT NOT NULL DEFAULT '',        -- names, one a line
    findings TEXT NOT NULL DEFAULT ''      -- ids, each between two line feeds
);
CREATE INDEX capture_counts ON capture (deleted_us, state, verdict, errors, warnings, notes);
CREATE INDEX capture_started ON capture (started_us);

CREATE TABLE detail (
    seq INTEGER PRIMARY KEY,
    record TEXT NOT NULL,                  -- heads, moments, ending
    summary TEXT NOT NULL
);

-- Bodies as they came. `times` says when each chunk came and how long it is.
CREATE TABLE segment (
    seq INTEGER NOT NULL,
    part INTEGER NOT NULL,                 -- 0 request, 1 response
    start INTEGER NOT NULL,                -- the first byte's place in the body
    times BLOB NOT NULL,
    data BLOB NOT NULL
);
CREATE UNIQUE INDEX segment_place ON segment (seq, part, start);

CREATE VIRTUAL TABLE search USING fts5 (
    answer, reasoning, tools, model, path, request,
    tokenize = 'trigram'
);
INSERT INTO search (search, rank) VALUES ('secure-delete', 1)
