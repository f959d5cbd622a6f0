// Package fleet runs a batch on many machines through a NATS JetStream server: tasks wait in a
// work-queue stream, workers pull them, and each result is stored once.
//
// The one rule: a task is acknowledged after its result is stored, and a result is only created,
// never replaced. So no task is lost and none has two results, whichever workers and servers are
// killed. A dead worker's task restarts in a new clone: its effects outside the clone may happen
// twice.
//
// Start reading at Server (server.go), then submit.go, worker.go and follow.go; connect.go
// connects, limits.go limits tasks on a worker. Package batch runs a task.
//
// On the server:
//
//	stream ADZE_TASKS    adze.tasks.PRIORITY.LABEL.BATCH.TASK  work queue; a durable consumer
//	                                                           for each batch, label and priority
//	stream ADZE_DEAD     adze.dead.BATCH.TASK                   tasks whose workers died too often
//	bucket ADZE_BATCHES  BATCH                                  settings for all tasks of a batch
//	bucket ADZE_RESULTS  BATCH.TASK                             one result of each task
//	bucket ADZE_CANCEL   BATCH                                  cancelled batches
//	bucket ADZE_WORKERS  WORKER                                 active workers; with a TTL
//	objects ADZE_FILES   BATCH.TASK.ATTEMPT.patch, .session     patches, and exported sessions
//	                     adze.lines.BATCH.TASK                  tasks' output; not stored
//
// Known limits: finished batches are kept for 30 days. A worker that stops returns its tasks, which
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

// Order holds the settings for all tasks of a batch.
type Order struct {
	ID       string    `json:"id"`
	Created  time.Time `json:"created"`
	Tasks    int       `json:"tasks"`
	Flags    []string  `json:"flags,omitempty"` // for each task's adze
	Push     bool      `json:"push,omitempty"`
	Attempts int       `json:"attempts"`       // limit of a task's starts
	Jobs     int       `json:"jobs,omitempty"` // limits concurrent tasks per label and priority; 0 for no limit
}

type item struct {
	Order Order      `json:"order"`
	Task  batch.Task `json:"task"`
	Line  int        `json:"line"`
}

// Defaults.
const (
	UsualAttempts = 3
	UsualLabel    = "default"
	UsualPriority = 2
)

// Labels of a task that select its queue.
const (
	labelKey    = "queue"
	priorityKey = "priority"
)

// Errors other than those of connecting.
var (
	ErrNone  = errors.New("there is no such batch or task on the server")
	ErrOpen  = errors.New("tasks of the batch wait or run")
	ErrLabel = errors.New("a label has small letters, digits and -, at most 32")
)

// letters of ids, without those easily confused in speech or typing.
const letters = "abcdefghjkmnpqrstuvwxyz123456789"

// newID returns a batch id of eight characters.
func newID() string {
	var raw [5]byte
	_, _ = rand.Read(raw[:]) // it never fails
	return base32.NewEncoding(letters).WithPadding(base32.NoPadding).EncodeToString(raw[:])
}

// token converts a task's id (letters, digits, ".", "_" and "-") to a single subject token.
func token(task string) string { return strings.ReplaceAll(task, ".", "=") }

// SoundLabel reports whether a word can be a label of tasks.
func SoundLabel(label string) bool {
	return label != "" && len(label) <= 32 && strings.Trim(label, "abcdefghijklmnopqrstuvwxyz0123456789-") == ""
}
