package queue

import "iter"

// maxChanges bounds the jobs that a command changes at the same time.
const maxChanges = 16

// inOrder runs do for up to maxChanges ids at the same time, and report for each result, in the order of the ids. After
// an error it begins no more, and returns the error.
func inOrder(ids iter.Seq2[string, error], do func(id string) error, report func(id string, err error) error) error {
	type begun struct {
		id   string
		done chan error
	}
	var running []begun
	var failed error
	finish := func() {
		first := running[0]
		running = running[1:]
		if err := report(first.id, <-first.done); failed == nil {
			failed = err
		}
	}
	for id, err := range ids {
		if failed = err; err != nil {
			break
		}
		job := begun{id, make(chan error, 1)}
		go func() { job.done <- do(id) }()
		if running = append(running, job); len(running) == maxChanges {
			finish()
		}
		if failed != nil {
			break
		}
	}
	for len(running) > 0 {
		finish()
	}
	return failed
}
