package store

import (
	"crypto/sha256"
	"encoding/hex"
)

// Subjects are the subjects of a queue, below clichain.NAME. A job is at job.CLASS.PRIORITY.KEY, or at
// job.later.PRIORITY.KEY until its time has come. CLASS is that of its needs. A result is at result.answered.KEY or
// result.failed.KEY, and mark.KEY says that a job which may change something was begun.
type Subjects struct{ name string }

// Key stands for a job's id in subjects, which take no blanks or dots and which every administrator of a server sees.
func Key(id string) string {
	sum := sha256.Sum256([]byte(id))
	return hex.EncodeToString(sum[:16])
}

func (s Subjects) subject(rest string) string { return "clichain." + s.name + "." + rest }

// Stream is the name of a stream or bucket of the queue.
func (s Subjects) Stream(kind string) string { return "clichain_" + s.name + "_" + kind }

// JobSubject is the subject of a job that waits for a worker.
func (s Subjects) JobSubject(class, priority, key string) string {
	return s.subject("job." + class + "." + priority + "." + key)
}

func (s Subjects) scheduled(priority, key string) string {
	return s.JobSubject(scheduledClass, priority, key)
}

// anyJob matches each subject that a job of this key can have. Every write is conditional on the last message there,
// so that there is never more than one.
func (s Subjects) anyJob(key string) string { return s.JobSubject("*", "*", key) }

// AnyResult and Failed match the result of a key, and one that is a failure; "*" is any key.
func (s Subjects) AnyResult(key string) string { return s.subject("result.*." + key) }

// Failed: see AnyResult.
func (s Subjects) Failed(key string) string { return s.subject("result.failed." + key) }

func (s Subjects) answered(key string) string { return s.subject("result.answered." + key) }
func (s Subjects) mark(key string) string     { return s.subject("mark." + key) }

// Wake is the subject on which submitters wake workers. Nothing there is stored.
func (s Subjects) Wake() string { return s.subject("wake") }
