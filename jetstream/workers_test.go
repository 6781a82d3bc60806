package jetstream_test

import (
	"context"
	"flag"
	"fmt"
	"hash/fnv"
	"log/slog"
	"math/rand/v2"
	"os"
	"os/signal"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/clichain/clichain"
	"github.com/clichain/clichain/clitest"
	"github.com/clichain/clichain/jetstream"
	"github.com/clichain/clichain/permit"
	"github.com/clichain/clichain/specs"
	"github.com/nats-io/nats-server/v2/server"
	"github.com/nats-io/nats.go"
	"github.com/stretchr/testify/require"
)

var (
	soakJobs = flag.Int("jobs", 150, "how many jobs TestWorkersAreKilled has")
	soakKill = flag.Duration("kill", 2*time.Second, "how often it kills a worker")

	soakOutages = flag.Duration("outages", 0, "how often TestMixedFleetIsKilled loses a server; 0: never")
	soakIdle    = flag.Duration("idle", 20*time.Second, "how long a worker may be idle there beside a job that it could run")
)

// Environment variables of a worker process: the server, the directory of the fakes, and the directory in which it
// records each job with write access that it begins.
const (
	workerVariable = "CLICHAIN_TEST_WORKER"
	fakesVariable  = "CLICHAIN_TEST_FAKES"
	notesVariable  = "CLICHAIN_TEST_NOTES"
)

var soakConfig = &jetstream.Config{Name: "soak", AckWait: 3 * time.Second, MaxDeliver: 20}

// faults are the fakes and how often in a thousand they are asked, together a tenth of all calls. The fake "well"
// answers the others. A job with the fake "broken" always gets that fake, and so becomes a dead letter.
var faults = []struct {
	name  string
	share uint32
	steps []clitest.Step
}{
	{"overloaded", 40, []clitest.Step{{ReadStdin: true}, {Stdout: failed("API Error: 529 Overloaded")}, clitest.Exit(1)}},
	{"killed", 20, []clitest.Step{{ReadStdin: true}, {Kill: "KILL"}}},
	{"hanging", 10, []clitest.Step{{ReadStdin: true}, {Hang: true}}},
	{"limited", 20, []clitest.Step{{ReadStdin: true}, {Stdout: failed("API Error: 429 rate_limit_error")}, clitest.Exit(1)}},
	{"broken", 10, []clitest.Step{{ReadStdin: true}, {Stderr: "it is broken\n"}, clitest.Exit(7)}},
}

func failed(text string) string {
	return fmt.Sprintf(`{"type":"result","subtype":"success","is_error":true,"result":%q,"session_id":"s"}`+"\n", text)
}

const answered = `{"type":"result","subtype":"success","is_error":false,"num_turns":1,"result":"well","session_id":"s",` +
	`"total_cost_usd":0.001,"usage":{"input_tokens":10,"output_tokens":2}}` + "\n"

func installFakes(t *testing.T) (dir string) {
	t.Helper()
	dir = t.TempDir()
	for _, f := range faults {
		_, err := clitest.Install(dir, f.name, clitest.Scenario{Steps: f.steps})
		require.NoError(t, err)
	}
	_, err := clitest.Install(dir, "well", clitest.Scenario{Steps: []clitest.Step{{ReadStdin: true}, {Stdout: answered}}})
	require.NoError(t, err)
	t.Cleanup(func() {
		for _, name := range []string{"well", "hanging", "overloaded", "killed", "limited", "broken"} {
			require.Eventually(t, func() bool { return len(clitest.Survivors(filepath.Join(dir, name))) == 0 },
				limit, 50*time.Millisecond, "a fake CLI survived its worker")
		}
	})
	return dir
}

// mix chooses a fake for each call. A job gets the fake "broken" always or never.
func mix(fakes, notes string) clichain.Backend {
	providers := map[string]clichain.Backend{}
	for _, name := range []string{"well", "overloaded", "killed", "hanging", "limited", "broken"} {
		timeout := 2 * time.Minute
		if name == "hanging" {
			timeout = 10 * time.Second
		}
		providers[name] = clichain.NewProvider(specs.Claude(), &clichain.Config{
			Binary: filepath.Join(fakes, name), Timeout: timeout, Env: []string{"ANTHROPIC_API_KEY=x"},
		})
	}
	return clichain.BackendFunc("claude", func(ctx context.Context, req clichain.Request) (*clichain.Response, error) {
		id := req.Metadata["id"]
		if req.Access == clichain.AccessWrite {
			note(notes, id)
			return providers["well"].Complete(ctx, req)
		}
		return providers[pick(id)].Complete(ctx, req)
	})
}

func pick(id string) string {
	h := fnv.New32a()
	_, _ = h.Write([]byte(id))
	last := len(faults) - 1
	if h.Sum32()%1000 < faults[last].share {
		return faults[last].name
	}
	n, sum := rand.Uint32N(1000), uint32(0)
	for _, f := range faults[:last] {
		if sum += f.share; n < sum {
			return f.name
		}
	}
	return "well"
}

// note records that a job was begun, before anything can interrupt it.
func note(folder, id string) {
	f, err := os.CreateTemp(folder, id+".")
	if err != nil {
		panic(err)
	}
	_ = f.Close()
}

// workerMain is a worker process.
func workerMain(url string) {
	ctx, stop := signal.NotifyContext(context.Background(), syscall.SIGTERM)
	defer stop()
	nc, err := nats.Connect(url, nats.MaxReconnects(-1))
	if err != nil {
		panic(err)
	}
	defer nc.Close()
	q, err := jetstream.Open(ctx, nc, &jetstream.Config{Name: soakConfig.Name, MaxDeliver: soakConfig.MaxDeliver})
	if err != nil {
		panic(err)
	}
	answer := echo()
	if fakes := os.Getenv(fakesVariable); fakes != "" {
		answer = mix(fakes, os.Getenv(notesVariable))
	}
	asked := noCooldown(answer)
	if kind := os.Getenv(kindVariable); kind != "" {
		asked = ofKind(kind)
	}
	isolated := os.Getenv(agentVariable)
	if isolated != "" {
		asked = inCopy(isolated)
	}
	err = q.Work(ctx, asked, &jetstream.WorkConfig{
		Isolated: isolated != "", Slots: 2, Permissions: permit.Permissions{Access: clichain.AccessWrite, Dirs: []string{os.TempDir()}}, Logger: slog.New(slog.NewTextHandler(os.Stderr, &slog.HandlerOptions{Level: slog.LevelError})),
	})
	if err != nil {
		panic(err)
	}
}

// listen starts a server with a socket and changed settings. No test of this module cuts the power of a server: data
// in the system's cache counts as stored, so the servers need not sync their files.
func listen(t *testing.T, change ...func(*server.Options)) *server.Server {
	t.Helper()
	options := &server.Options{
		Host: "127.0.0.1", Port: -1, JetStream: true, StoreDir: t.TempDir(), NoSigs: true, NoLog: true,
	}
	for _, f := range change {
		f(options)
	}
	s, err := server.NewServer(options)
	require.NoError(t, err)
	s.Start()
	require.True(t, s.ReadyForConnections(limit))
	t.Cleanup(func() {
		s.Shutdown()
		s.WaitForShutdown()
	})
	return s
}

// Four worker processes, one of which is killed every two seconds, with faults in a tenth of the runs. Each job has
// one result, each failure has a reason, and no job with write access began twice.
func TestWorkersAreKilled(t *testing.T) {
	t.Parallel()
	s := listen(t)
	nc, err := nats.Connect(s.ClientURL())
	require.NoError(t, err)
	t.Cleanup(nc.Close)
	q := open(t, nc, soakConfig)
	notes := t.TempDir()
	f := &fleet{t: t, env: append(os.Environ(),
		workerVariable+"="+s.ClientURL(), fakesVariable+"="+installFakes(t), notesVariable+"="+notes, "XDG_STATE_HOME="+t.TempDir())}
	began := time.Now()
	for range 4 {
		f.start()
	}
	t.Cleanup(f.stop)
	submitted := make(chan error, 1)
	go func() { submitted <- submitMany(t.Context(), q, *soakJobs) }()

	ctx, cancel := context.WithTimeout(t.Context(), limit+time.Duration(*soakJobs)*time.Second)
	defer cancel()
	got, kills := watchMany(ctx, t, q, f)
	require.NoError(t, <-submitted)
	took := time.Since(began)
	f.stop()
	report(t, got, notes)
	t.Logf("%d jobs in %.0f s, %d workers killed", len(got), took.Seconds(), kills)
}

func submitMany(ctx context.Context, q *jetstream.Queue, n int) error {
	for i := range n {
		j := job(fmt.Sprintf("job-%d", i))
		j.Request.Metadata = map[string]string{"id": j.ID}
		if i%10 == 0 {
			j.Request.Access, j.Request.Dir = clichain.AccessWrite, os.TempDir()
		}
		if err := q.Submit(ctx, j); err != nil {
			return err
		}
	}
	return nil
}

// watchMany reads the results, and kills workers at the same time.
func watchMany(ctx context.Context, t *testing.T, q *jetstream.Queue, f *fleet) (got map[string]*jetstream.Result, kills int) {
	killer := time.NewTicker(*soakKill)
	defer killer.Stop()
	results := make(chan *jetstream.Result)
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	go func() {
		defer close(results)
		for r, err := range q.Results(ctx, 0) {
			if err != nil {
				t.Error(err)
				return
			}
			select {
			case results <- r:
			case <-ctx.Done():
				return
			}
		}
	}()
	got = map[string]*jetstream.Result{}
	for len(got) < *soakJobs {
		select {
		case r, ok := <-results:
			if !ok {
				require.Fail(t, "the results ended", "%d of %d", len(got), *soakJobs)
			}
			require.NotContains(t, got, r.ID)
			got[r.ID] = r
		case <-killer.C:
			f.kill()
			kills++
		}
	}
	return got, kills
}

// report checks each result, and prints a summary.
func report(t *testing.T, got map[string]*jetstream.Result, notes string) {
	t.Helper()
	counts, deliveries := map[string]int{}, 0
	for id, r := range got {
		deliveries += len(r.History)
		if r.Failure == nil {
			counts["answered"]++
			continue
		}
		counts[string(r.Failure.Reason)]++
		require.NotEmpty(t, r.Failure.Message, id)
		require.NotNil(t, r.Job, id)
	}
	begun := map[string]int{}
	files, err := os.ReadDir(notes)
	require.NoError(t, err)
	for _, file := range files {
		id, _, _ := strings.Cut(file.Name(), ".")
		begun[id]++
	}
	for id, n := range begun {
		require.Equal(t, 1, n, "%s may have changed something, and was run again", id)
	}
	t.Logf("results %v, further deliveries %d, jobs with write access %d", counts, deliveries, len(begun))
}
