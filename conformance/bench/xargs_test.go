package bench_test

import (
	"bytes"
	"cmp"
	"context"
	"fmt"
	"os/exec"
	"slices"
	"strconv"
	"strings"
	"time"
)

// byXargs calls the CLI with xargs. With more than one prompt it knows only the total time.
func byXargs(s target, j job) (o outcome) {
	j.Stream = false // a shell passes on the text that the CLI prints
	ctx, cancel := context.WithTimeout(context.Background(), bound)
	defer cancel()
	began := time.Now()
	out := tail{}
	args := []string{"-P", strconv.Itoa(cmp.Or(j.Slots, 1)), "-I{}"}
	cmd := exec.CommandContext(ctx, "xargs", append(args, j.shell(s)...)...)
	cmd.Dir, cmd.Env, cmd.Stdout = s.Work, s.Env, &out
	cmd.Stdin = strings.NewReader(strings.Join(j.Prompts, "\n") + "\n")
	var err error
	o.Peak, err = j.run(cmd)
	o.Took = ms(time.Since(began))
	r := reply{Took: o.Took, Text: strings.TrimSpace(string(out.last))}
	if err != nil {
		r.Error = err.Error()
	}
	if !out.began.IsZero() {
		r.First = ms(out.began.Sub(began))
	}
	if len(j.Prompts) == 1 {
		o.Calls = []reply{r}
		return o
	}
	for _, text := range strings.Split(r.Text, "\n") {
		o.Calls = append(o.Calls, reply{Took: o.Took / float64(len(j.Prompts)), Text: text, Error: r.Error})
	}
	return o
}

// shell returns the command for one prompt. {} stands for the prompt.
func (j job) shell(s target) []string {
	command := append([]string{s.Binary}, append(argumentsOf[s.CLI].of(j), "{}")...)
	if d := j.Timeout + j.Patience; d > 0 {
		command = append([]string{"timeout", fmt.Sprint(d.Seconds())}, command...)
	}
	if j.Fallback == nil {
		return command
	}
	other := append([]string{"env"}, j.Fallback.Env...)
	other = append(other, j.Fallback.Binary)
	other = append(other, append(argumentsOf[j.Fallback.CLI].of(job{}), "{}")...)
	return []string{"sh", "-c", quoted(command) + " || " + quoted(other)}
}

// quoted returns a command for sh. No argument contains a quotation mark.
func quoted(words []string) string {
	return "'" + strings.Join(words, "' '") + "'"
}

// tail keeps the last 64 KiB that are written to it.
type tail struct {
	last  []byte
	began time.Time
}

func (w *tail) Write(p []byte) (int, error) {
	if w.began.IsZero() && len(bytes.TrimSpace(p)) > 0 {
		w.began = time.Now()
	}
	const kept = 64 << 10
	w.last = append(w.last, p[max(0, len(p)-kept):]...)
	if over := len(w.last) - kept; over > 0 {
		w.last = slices.Delete(w.last, 0, over)
	}
	return len(p), nil
}
