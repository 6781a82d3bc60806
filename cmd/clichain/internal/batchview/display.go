package batchview

import (
	"fmt"
	"io"
	"time"

	"github.com/clichain/clichain/batch"
	"github.com/clichain/clichain/cmd/clichain/internal/terminal"
)

// View shows one run of a batch. Make it with [New].
type View struct {
	cfg   Config
	line  terminal.Line
	began time.Time
	rate  rate
	drawn time.Time // time of the last progress line
}

// Config is the configuration of a View.
type Config struct {
	In, Out string    // names of the files
	To      io.Writer // receives all output
	// Quiet shows only errors in lines of the input.
	Quiet bool
	// Live redraws a status line on a terminal of Width columns. Without Live, the view prints a line at intervals.
	Live  bool
	Width func() int
}

// remarkEvery is the interval of the progress lines without a terminal.
const remarkEvery = 30 * time.Second

// New makes a View.
func New(cfg Config) *View {
	v := &View{cfg: cfg, began: time.Now()}
	v.line.Out, v.line.Width = cfg.To, cfg.Width
	return v
}

// Progress shows the counts. The first call also announces the batch. Calls must not overlap.
func (v *View) Progress(c batch.Counts) { v.progress(time.Now(), &c) }

func (v *View) progress(now time.Time, c *batch.Counts) {
	if v.cfg.Quiet {
		return
	}
	first := v.drawn.IsZero()
	if first {
		v.began = now
	}
	v.rate.add(now, c.Done())
	switch {
	case v.cfg.Live:
		v.line.Draw(func(width int) string { return statusLine(c, v.rate.perSecond(), v.began, now, width) })
	case first:
		v.say(fmt.Sprintf("batch: from %s to %s, %s done before",
			nameOf(v.cfg.In, "stdin"), nameOf(v.cfg.Out, "stdout"), number(c.Before)))
	case now.Sub(v.drawn) < remarkEvery:
		return
	default:
		v.say(statusLine(c, v.rate.perSecond(), v.began, now, 1<<10))
	}
	v.drawn = now
}

func nameOf(file, stream string) string {
	if file == "-" {
		return stream
	}
	return file
}

// Notice prints a message above the status line. It is safe for concurrent use.
func (v *View) Notice(message string) {
	if !v.cfg.Quiet {
		v.say(message)
	}
}

// BadLine prints the error in a line of the input above the status line. It is safe for concurrent use.
func (v *View) BadLine(number int, err error) error {
	_, failed := fmt.Fprintf(v.line.Over(v.cfg.To), "clichain: line %d: %s\n", number, terminal.OneLine(err.Error()))
	return failed
}

func (v *View) say(message string) {
	fmt.Fprintln(v.line.Over(v.cfg.To), "clichain: "+terminal.OneLine(message))
}

// End clears the status line and prints the summary.
func (v *View) End(c *batch.Counts) {
	for _, line := range summary(c, time.Since(v.began)) {
		v.Notice(line)
	}
}
