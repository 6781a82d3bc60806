package store

import (
	"crypto/sha256"
	"encoding/hex"
	"strings"
)

// Subjects are the subjects of a queue, below clichain.NAME. A job is at job.CLASS.GROUP.KEY, or at job.later.GROUP.KEY
// while it waits for a time. CLASS is the class of its needs. GROUP is PRIORITY@OWNER, or PRIORITY for a job without an
// owner. Both have the same number of tokens, so that one filter finds each job of a key. A result is at
// result.answered.KEY or result.failed.KEY. mark.KEY marks a job that may change something and that a worker began, and
// summary has the counts of the results.
type Subjects struct{ name string }

// Key returns the token for a job's ID in subjects. Subjects allow no blanks or dots, and every administrator of a
// server sees them.
func Key(id string) string {
	sum := sha256.Sum256([]byte(id))
	return hex.EncodeToString(sum[:16])
}

func (s Subjects) subject(rest string) string { return "clichain." + s.name + "." + rest }

// Stream returns the name of a stream or bucket of the queue.
func (s Subjects) Stream(kind string) string { return "clichain_" + s.name + "_" + kind }

// JobSubject returns the subject of a job that waits for a worker.
func (s Subjects) JobSubject(class string, g Group, key string) string {
	return s.subject("job." + class + "." + g.token() + "." + key)
}

// KeyOf returns the key in the subject of a job.
func (s Subjects) KeyOf(subject string) string {
	return subject[strings.LastIndexByte(subject, '.')+1:]
}

// anyJob matches each subject that a job of this key can have. Every write is conditional on the last message there,
// so that a job never has two messages.
func (s Subjects) anyJob(key string) string { return s.subject("job.*.*." + key) }

// AnyResult matches the result of a key; "*" matches any key.
func (s Subjects) AnyResult(key string) string { return s.subject("result.*." + key) }

// Failed matches the result of a key if it is a failure; "*" matches any key.
func (s Subjects) Failed(key string) string { return s.subject("result.failed." + key) }

func (s Subjects) answered(key string) string { return s.subject("result.answered." + key) }
func (s Subjects) mark(key string) string     { return s.subject("mark." + key) }
func (s Subjects) summary() string            { return s.subject("summary") }

// Wake is the subject on which submitters wake workers. Nothing there is stored.
func (s Subjects) Wake() string { return s.subject("wake") }

// Stop is the subject on which operators announce that they have canceled a job. Nothing there is stored.
func (s Subjects) Stop() string { return s.subject("stop") }
