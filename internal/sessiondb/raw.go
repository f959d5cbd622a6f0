package sessiondb

import "adze/session"

// Raw is a row of entries as the database holds it, sound or not.
type Raw struct {
	Seq   int64
	Entry session.Entry
	Hash  []byte
	Lost  int    // large texts that are missing or were changed; something stands in their place
	time  int64  // as the hash has it
	data  string // the same: with names in the place of large texts
}

// Sum is the hash of the row if it stands at seq in the log of id, behind a row with the hash
// before.
func (r Raw) Sum(id session.ID, seq int64, before []byte) []byte {
	return row{seq: seq, kind: string(r.Entry.Type), time: r.time, data: r.data}.sum(id, before)
}

// RawLog is a session as it lies in the database: Entries and Tip are what was noted of its end
// apart from its rows.
type RawLog struct {
	ID      session.ID
	Entries int64
	Tip     []byte
	Rows    []Raw // by Seq
}
