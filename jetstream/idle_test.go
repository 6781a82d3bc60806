package jetstream_test

import (
	"bufio"
	"context"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/clichain/clichain/jetstream"
	"github.com/stretchr/testify/require"
)

// span is a time from one moment to another.
type span struct{ from, to time.Time }

// common returns the time that both spans cover; it ends before it begins if there is none.
func (s span) common(other span) span {
	return span{
		slices.MaxFunc([]time.Time{s.from, other.from}, time.Time.Compare),
		slices.MinFunc([]time.Time{s.to, other.to}, time.Time.Compare),
	}
}

func (s span) length() time.Duration { return s.to.Sub(s.from) }

// newNotes returns a func that records in a file when this worker process begins and ends a job.
func newNotes() func(what, kind, id string) {
	f, err := os.Create(filepath.Join(os.Getenv(notesVariable), strconv.Itoa(os.Getpid())))
	if err != nil {
		panic(err)
	}
	note := func(what, kind, id string) { fmt.Fprintln(f, time.Now().UnixNano(), what, kind, id) }
	note("up", "-", "-")
	return note
}

// worked is the content of the notes of one worker process.
type worked struct {
	kind   string
	idle   []span
	starts map[string]time.Time
}

func readNotes(t *testing.T, path string) (w worked) {
	t.Helper()
	f, err := os.Open(path)
	require.NoError(t, err)
	defer f.Close()
	w.starts = map[string]time.Time{}
	running, since := 0, time.Time{}
	for lines := bufio.NewScanner(f); lines.Scan(); {
		field := strings.Fields(lines.Text())
		if len(field) < 4 {
			break // the process was killed while it wrote
		}
		nano, err := strconv.ParseInt(field[0], 10, 64)
		require.NoError(t, err)
		at := time.Unix(0, nano)
		switch field[1] {
		case "up":
			since = at
		case "start":
			if w.kind = field[2]; running == 0 {
				w.idle = append(w.idle, span{since, at})
			}
			w.starts[field[3]] = at
			running++
		case "end":
			running--
			since = at
		}
	}
	return w
}

// longestIdle returns the longest time in which a worker was idle although a job for its model waited. Jobs of a
// killed worker and times of an outage do not count.
func longestIdle(t *testing.T, notes string, submitted map[string]time.Time, outages []span) (longest time.Duration, who string) {
	t.Helper()
	files, err := filepath.Glob(filepath.Join(notes, "*"))
	require.NoError(t, err)
	begun, all := map[string]time.Time{}, []worked{}
	for _, file := range files {
		w := readNotes(t, file)
		if w.kind == "limited" { // it returns each job
			continue
		}
		all = append(all, w)
		for id, at := range w.starts {
			if first, ok := begun[id]; !ok || at.Before(first) {
				begun[id] = at
			}
		}
	}
	for _, w := range all {
		for id, at := range begun {
			if n, _ := strconv.Atoi(id); !slices.Contains(kindModels[w.kind], models[n%len(models)]) {
				continue
			}
			ready := span{submitted[id], at}
			for _, idle := range w.idle {
				wait := idle.common(ready)
				lost := func(o span) bool { return o.common(wait).length() > 0 }
				if wait.length() > longest && !slices.ContainsFunc(outages, lost) {
					longest, who = wait.length(), fmt.Sprintf("%s beside job %s", w.kind, id)
				}
			}
		}
	}
	return longest, who
}

// outage stops one server of a cluster, deletes its store every second time, and starts it again. It returns the time
// until all servers have the whole queue.
func (c *cluster) outage(ctx context.Context, q *jetstream.Queue, i int) span {
	lost := span{from: time.Now()}
	server := i % len(c.servers)
	c.stop(server)
	if i%2 == 1 {
		require.NoError(c.t, os.RemoveAll(c.options[server].StoreDir))
	}
	c.start(server)
	for ctx.Err() == nil && jetstream.Current(ctx, q) < len(c.servers) {
		time.Sleep(10 * time.Millisecond)
	}
	lost.to = time.Now()
	return lost
}

func (c *cluster) urls() string {
	var urls []string
	for _, o := range c.options {
		urls = append(urls, "nats://127.0.0.1:"+strconv.Itoa(o.Port))
	}
	return strings.Join(urls, ",")
}
