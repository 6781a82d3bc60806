package bench_test

import (
	"cmp"
	"sync"
	"time"
)

// target is what a contender needs to run a CLI: the program, the working directory, and an environment with a home and
// a model.
type target struct {
	CLI, Binary, Work string
	Env               []string
}

// job is the work of a contender. The zero value has no prompts.
type job struct {
	Prompts  []string
	Slots    int           // number of concurrent prompts; zero: one
	Stream   bool          // the contender reports when the text begins
	Warm     bool          // the CLI may keep running between the prompts, if the contender supports it
	Full     bool          // the CLI may run all tools
	Lean     bool          // the CLI gets the options for a small request
	Timeout  time.Duration // of one prompt; zero: none
	Memory   bool          // the contender reports its memory
	Fallback *target       // another CLI, called if the first one does not answer within Patience
	Patience time.Duration
}

// bound ends a job that hangs. It is long enough for any machine.
const bound = 15 * time.Minute

// prompts returns n prompts.
func prompts(n int) (list []string) {
	for i := range n {
		list = append(list, "say hi, number "+string(rune('a'+i%26)))
	}
	return list
}

// reply is the result of one prompt. Its times are in milliseconds since the call.
type reply struct {
	First, Took float64
	Text, Error string
}

// outcome is the result of a job.
type outcome struct {
	Calls []reply
	Took  float64 // milliseconds
	Peak  int64   // peak memory of the calling process, in bytes
}

// each calls ask with every prompt, in Slots goroutines. ask calls first when the text begins.
func (j job) each(ask func(prompt string, first func()) (string, error)) (o outcome) {
	o.Calls = make([]reply, len(j.Prompts))
	next := make(chan int, len(j.Prompts))
	for i := range j.Prompts {
		next <- i
	}
	close(next)
	began := time.Now()
	var running sync.WaitGroup
	for range cmp.Or(j.Slots, 1) {
		running.Go(func() {
			for i := range next {
				o.Calls[i] = timed(func(first func()) (string, error) { return ask(j.Prompts[i], first) })
			}
		})
	}
	running.Wait()
	o.Took = ms(time.Since(began))
	return o
}

func timed(ask func(first func()) (string, error)) (r reply) {
	began := time.Now()
	var err error
	r.Text, err = ask(func() { r.First = cmp.Or(r.First, ms(time.Since(began))) })
	if r.Took = ms(time.Since(began)); err != nil {
		r.Error = exitText(err)
	}
	return r
}

func ms(d time.Duration) float64 { return float64(d) / float64(time.Millisecond) }
