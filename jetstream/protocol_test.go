package jetstream_test

import (
	"context"
	"encoding/json"
	"flag"
	"fmt"
	"log/slog"
	"os"
	"path/filepath"
	"reflect"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/clichain/clichain"
	"github.com/clichain/clichain/jetstream"
	"github.com/stretchr/testify/require"
)

// testdata/b75f52a.json has messages of the first protocol, written by the code of commit b75f52a: waiting jobs, also
// after a limit and after a failure, a dead letter and an answer.
func restore(t *testing.T, q *jetstream.Queue) {
	t.Helper()
	data, err := os.ReadFile(filepath.Join("testdata", "b75f52a.json"))
	require.NoError(t, err)
	var messages []struct {
		Subject, Data string
		Header        map[string][]string
	}
	require.NoError(t, json.Unmarshal(data, &messages))
	for _, m := range messages {
		require.NoError(t, jetstream.Restore(t.Context(), q, m.Subject, m.Header, m.Data))
	}
}

// Workers run jobs of the first protocol, and read its results.
func TestFirstProtocolIsRead(t *testing.T) {
	t.Parallel()
	q := open(t, embed(t), nil)
	restore(t, q)
	var mu sync.Mutex
	asked := map[string]clichain.Request{}
	work(t, q, backend(func(_ context.Context, req clichain.Request) (*clichain.Response, error) {
		mu.Lock()
		defer mu.Unlock()
		asked[req.Messages[len(req.Messages)-1].Content] = req
		return &clichain.Response{Text: `{}`}, nil
	}), nil)
	require.NoError(t, q.Retry(t.Context(), "dead"))
	got := collect(t, q, 6)
	for _, id := range []string{"plain", "full", "limited", "paused", "dead"} {
		require.NotNil(t, got[id], id)
		require.NotNil(t, got[id].Response, id)
	}
	require.Equal(t, "done", got["answered"].Response.Text)
	require.Len(t, got["limited"].History, 1)
	require.Len(t, got["paused"].History, 1)
	mu.Lock()
	defer mu.Unlock()
	require.Equal(t, 3, asked["hi"].Options.MaxTurns)
	require.Equal(t, "haiku", asked["hi"].Model)
}

// A worker of the first protocol takes no job of the second protocol, because it may know only a part of it, and the
// status reports that. A worker of the second protocol leaves jobs of the first protocol that it does not run to
// workers of either.
func TestOldWorkersSeeNoNewJobs(t *testing.T) {
	t.Parallel()
	q := open(t, embed(t), nil)
	old := job("old") // the form of an old submitter
	data, err := json.Marshal(old)
	require.NoError(t, err)
	require.NoError(t, jetstream.SubmitRaw(t.Context(), q, "old", data))
	j := job("new")
	j.Submitted = time.Now().Add(-time.Hour)
	submit(t, q, j)
	require.Equal(t, 1, jetstream.ReadyForOldWorkers(t.Context(), q))
	require.NoError(t, jetstream.Announce(t.Context(), q, jetstream.WorkerStatus{Name: "old one", Slots: 1}))
	s, err := q.Status(t.Context())
	require.NoError(t, err)
	require.Len(t, s.Unmet, 1)
	require.Contains(t, s.Unmet[0].Why, "old one: it has protocol 1, and a later version wrote the job")
	work(t, q, echo(), nil)
	collect(t, q, 2)
}

// A worker that knows only a part of a job leaves it unchanged to a worker of a later version, and logs that.
func TestJobsOfALaterVersionAreLeft(t *testing.T) {
	t.Parallel()
	for name, raw := range map[string]string{
		"a later protocol":          `{"id":"a","protocol":5,"request":{"messages":[{"role":"user","content":"x"}]}}`,
		"an unknown request field":  `{"id":"a","protocol":4,"request":{"messages":[{"role":"user","content":"x"}],"max_tools":0}}`,
		"an unknown option":         `{"id":"a","request":{"messages":[{"role":"user","content":"x"}],"options":{"max_tools":0}}}`,
		"an unknown field of a job": `{"tenant":{"id":1}, "id":"a","request":{"messages":[{"role":"user","content":"x"}]}}`,
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			nc := embed(t)
			q := open(t, nc, &jetstream.Config{MaxDeliver: 1})
			require.NoError(t, jetstream.SubmitRaw(t.Context(), q, "a", []byte(raw)))
			var log syncBuffer
			work(t, q, backend(func(context.Context, clichain.Request) (*clichain.Response, error) {
				t.Error("a part of the job was run")
				return nil, context.Canceled
			}), &jetstream.WorkConfig{Name: "w", Logger: slog.New(slog.NewTextHandler(&log, nil))})
			awaitWhy(t, q, "a", "w: it needs protocol 5, and this worker has protocol 4")
			_, data, err := jetstream.Stored(t.Context(), q, "a")
			require.NoError(t, err)
			require.Equal(t, raw, string(data))
			require.Contains(t, log.String(), `msg="a job is left to a worker of a later version" id=a`)
			require.ErrorIs(t, q.Submit(t.Context(), job("a")), jetstream.ErrExists)
			_, err = q.Result(t.Context(), "a")
			require.ErrorIs(t, err, jetstream.ErrPending)
			if name != "a later protocol" {
				return
			}
			later := open(t, nc, nil)
			jetstream.WorkLike(later, 5)
			work(t, later, echo(), nil)
			require.NotNil(t, collect(t, q, 1)["a"].Response)
		})
	}
}

// The dead letter of a job of a later version can be read, and its retry runs no part of the job.
func TestDeadLetterOfALaterVersion(t *testing.T) {
	t.Parallel()
	q := open(t, embed(t), nil)
	const raw = `{"id":"a","request":{"messages":[{"role":"user","content":"x"}],"max_tools":0}}`
	require.NoError(t, jetstream.StoreRaw(t.Context(), q, "a", []byte(`{"id":"a","failure":{"reason":"exit","message":"broken"},"job":`+raw+`}`)))
	r, err := q.Result(t.Context(), "a")
	require.NoError(t, err)
	require.Equal(t, "broken", r.Failure.Message)
	require.Nil(t, r.Job)
	work(t, q, echo(), &jetstream.WorkConfig{Name: "w"})
	require.NoError(t, q.Retry(t.Context(), "a"))
	awaitWhy(t, q, "a", "w: it needs protocol 5, and this worker has protocol 4")
	_, data, err := jetstream.Stored(t.Context(), q, "a")
	require.NoError(t, err)
	require.Contains(t, string(data), strings.TrimPrefix(raw, "{"))
}

var update = flag.Bool("update", false, "write the list of the fields of a job")

// The protocol version covers the fields of a job: a new field needs a new version, so that no worker runs a part of
// a job.
func TestProtocolHasEachField(t *testing.T) {
	var fields []string
	var add func(of reflect.Type, within string)
	add = func(of reflect.Type, within string) {
		for of.Kind() == reflect.Slice || of.Kind() == reflect.Pointer {
			of = of.Elem()
		}
		if of.Kind() != reflect.Struct || of == reflect.TypeFor[time.Time]() {
			return
		}
		for i := range of.NumField() {
			name, _, _ := strings.Cut(of.Field(i).Tag.Get("json"), ",")
			fields = append(fields, within+name)
			add(of.Field(i).Type, within+name+".")
		}
	}
	add(reflect.TypeFor[jetstream.Job](), "")
	slices.Sort(fields)
	s := fmt.Sprintln(strings.Join(fields, "\n"))
	golden := filepath.Join("testdata", fmt.Sprintf("protocol-%d.txt", jetstream.LatestProtocol))
	if *update {
		require.NoError(t, os.WriteFile(golden, []byte(s), 0o644))
	}
	want, err := os.ReadFile(golden)
	require.NoError(t, err)
	require.Equal(t, string(want), s, "a job has other fields: raise protocol, and run this test with -update")
}

// A canceled job of a later version keeps its whole job, so Retry submits it again.
func TestCancelKeepsJobOfALaterVersion(t *testing.T) {
	t.Parallel()
	for name, content := range map[string]string{"small": "x", "large": strings.Repeat("x", 2<<20)} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			q := open(t, embed(t), nil)
			request := `{"messages":[{"role":"user","content":"` + content + `"}],"max_tools":7}`
			raw := `{"protocol":5,"history":[{"reason":"exit"}],"id":"a","request":` + request + `,"refined":true}`
			require.NoError(t, jetstream.SubmitRaw(t.Context(), q, "a", []byte(raw)))
			for range 2 { // a retried job can be canceled again
				require.NoError(t, jetstream.NewOperator(q).Cancel(t.Context(), "a"))
				r, err := q.Result(t.Context(), "a")
				require.NoError(t, err)
				require.Equal(t, clichain.ReasonCanceled, r.Failure.Reason)
				require.Nil(t, r.Job)
				require.NoError(t, q.Retry(t.Context(), "a"))
				_, data, err := jetstream.Stored(t.Context(), q, "a")
				require.NoError(t, err)
				var again map[string]json.RawMessage
				require.NoError(t, json.Unmarshal(data, &again))
				require.Equal(t, request, string(again["request"]))
				require.Equal(t, "5", string(again["protocol"]))
				require.NotContains(t, again, "history")
				require.NotContains(t, again, "refined")
			}
			require.Equal(t, []string{"a waiting"}, jobsOf(t, q, jetstream.Selection{}))
		})
	}
}
