package bench_test

import (
	"cmp"
	"sync"
	"time"
)

// seat is where a CLI sits: its program, and the environment that shows it a home and a model.
type seat struct {
	CLI, Binary, Work string
	Env               []string
}

// job is what a contender is asked to do. The zero value is nothing.
type job struct {
	Prompts  []string
	Slots    int           // how many prompts at once; zero: one
	Stream   bool          // the moment at which the text begins matters
	Warm     bool          // the CLI may stay running between the prompts, where that is offered
	Full     bool          // the CLI may run all tools
	Lean     bool          // the CLI is told to leave out of the request what it can
	Timeout  time.Duration // of one prompt; zero: none
	Memory   bool          // how much of it the asking process takes matters
	Fallback *seat         // another CLI, where the first one does not answer in Patience
	Patience time.Duration
}

// bound ends a job that goes on and on, on a machine of any speed.
const bound = 15 * time.Minute

// prompts are a number of prompts, each another one.
func prompts(n int) (list []string) {
	for i := range n {
		list = append(list, "say hi, number "+string(rune('a'+i%26)))
	}
	return list
}

// reply is what came of one prompt, in milliseconds from the call.
type reply struct {
	First, Took float64
	Text, Error string
}

// outcome is what came of a job.
type outcome struct {
	Calls []reply
	Took  float64 // milliseconds
	Peak  int64   // bytes of memory of the process that asked, at most
}

// each asks one prompt after the other, as many at once as the job says. ask calls first when the text begins.
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
