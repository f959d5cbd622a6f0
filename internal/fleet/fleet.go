// Package fleet does a batch on many machines, by a server of NATS JetStream: tasks wait in a
// work-queue stream, workers pull them, and each result is stored once.
//
// The one rule: a task is acknowledged after its result is stored, and a result is created where
// there is none. So no task is lost and none has two results, however often workers and servers
// are killed. A task whose worker died begins anew, in a new clone: what it did outside its clone
// may be done twice.
//
// Start reading at Server (server.go), then submit.go, worker.go and follow.go; connect.go
// connects, limits.go has what the owner of a worker lets tasks ask for. How a task is done is in
// package batch.
//
// On the server:
//
//	stream ADZE_TASKS    adze.tasks.PRIORITY.LABEL.BATCH.TASK  work queue; a durable consumer
//	                                                           for each batch, label and priority
//	stream ADZE_DEAD     adze.dead.BATCH.TASK                   tasks whose workers died too often
//	bucket ADZE_BATCHES  BATCH                                  what holds for all tasks of a batch
//	bucket ADZE_RESULTS  BATCH.TASK                             one result of each task
//	bucket ADZE_CANCEL   BATCH                                  batches that are cancelled
//	bucket ADZE_WORKERS  WORKER                                 workers that are there; with a TTL
//	objects ADZE_FILES   BATCH.TASK.ATTEMPT.patch, .session     patches, and sessions as exported
//	                     adze.lines.BATCH.TASK                  what tasks print; not stored
//
// Known limits: what is over is kept for 30 days. A worker that stops gives its tasks back, which
// counts as an attempt.
package fleet

import (
	"crypto/rand"
	"encoding/base32"
	"errors"
	"strings"
	"time"

	"adze/internal/fleet/batch"
)

// Order is what holds for all tasks of a batch.
type Order struct {
	ID       string    `json:"id"`
	Created  time.Time `json:"created"`
	Tasks    int       `json:"tasks"`
	Flags    []string  `json:"flags,omitempty"` // of each task's adze
	Push     bool      `json:"push,omitempty"`
	Attempts int       `json:"attempts"`       // how often a task is begun at most
	Jobs     int       `json:"jobs,omitempty"` // how many of a label and priority run at a time; if 0, any number
}

// item is a message of the queue.
type item struct {
	Order Order      `json:"order"`
	Task  batch.Task `json:"task"`
	Line  int        `json:"line"`
}

// Usual values.
const (
	UsualAttempts = 3
	UsualLabel    = "default"
	UsualPriority = 2
)

// Names of labels of a task that say where it waits.
const (
	labelKey    = "queue"
	priorityKey = "priority"
)

// Errors of this package, beside those of connecting.
var (
	ErrNone  = errors.New("there is no such batch or task on the server")
	ErrOpen  = errors.New("tasks of the batch wait or run")
	ErrLabel = errors.New("a label has small letters, digits and -, at most 32")
)

// letters of ids: none that is taken for another one when it is read aloud or typed.
const letters = "abcdefghjkmnpqrstuvwxyz123456789"

// newID makes the id of a batch: eight characters.
func newID() string {
	var raw [5]byte
	_, _ = rand.Read(raw[:]) // it never fails
	return base32.NewEncoding(letters).WithPadding(base32.NoPadding).EncodeToString(raw[:])
}

// token makes one step of a subject of a task's id, which has letters, digits, ".", "_" and "-".
func token(task string) string { return strings.ReplaceAll(task, ".", "=") }

// SoundLabel reports whether a word can be a label of tasks.
func SoundLabel(label string) bool {
	return label != "" && len(label) <= 32 && strings.Trim(label, "abcdefghijklmnopqrstuvwxyz0123456789-") == ""
}
