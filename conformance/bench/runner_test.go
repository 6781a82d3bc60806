package bench_test

import (
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/clichain/clichain/conformance/home"
	"github.com/clichain/clichain/conformance/loopback"
)

// turn is the measurement of one job of one contender.
type turn struct {
	outcome
	job
	Bytes, Requests int  // sent to the model
	Left            int  // processes that survive the job by 3 s
	Ran             bool // whether the endless tool ran
}

// runner is a contender with its own CLI, home and model server.
type runner struct {
	contender
	target
	home   home.Home // zero: the CLI is a fake
	server *loopback.Server
	open   func(t *testing.T) func(job) outcome
}

// runner prepares a contender for a row.
func (r row) runner(t *testing.T, c contender) *runner {
	t.Helper()
	cli := r.cliOf(c)
	s := &runner{contender: c}
	if r.script == nil {
		s.target = fakeTarget(t, cli, r.flood)
	} else {
		s.server = loopback.New(t, r.script(cli))
		s.home, s.target = realTarget(t, cli, s.server.URL)
	}
	if r.apart {
		s.open = func(t *testing.T) func(job) outcome { return c.start(t, s.target, true) }
		return s
	}
	do := c.start(t, s.target, false)
	s.open = func(*testing.T) func(job) outcome { return do }
	return s
}

func realTarget(t *testing.T, cli, url string) (home.Home, target) {
	t.Helper()
	h := home.New(t, cli, url, home.LoggedIn)
	t.Cleanup(func() { end(h) })
	if cli == home.Codex {
		quiet(t, h)
	}
	env := append(slices.Clone(h.Env), "IS_SANDBOX=1") // lets root use all tools
	return h, target{CLI: cli, Binary: h.Binary, Work: h.Work, Env: env}
}

// quiet turns off the analytics of codex. Without a network they delay its end by 5 s, which would distort the
// figures. clichain turns them off in any case.
func quiet(t *testing.T, h home.Home) {
	t.Helper()
	const file = ".codex/config.toml"
	text, err := os.ReadFile(filepath.Join(h.Dir, file))
	require.NoError(t, err)
	h.Write(t, file, string(text)+"[analytics]\nenabled = false\n")
}

// take runs the job once.
func (s *runner) take(t *testing.T, j job) turn {
	t.Helper()
	before := 0
	if s.server != nil {
		before = len(s.server.Requests())
	}
	seen := turn{job: j, outcome: s.open(t)(j)}
	if s.server != nil {
		for _, q := range s.server.Requests()[before:] {
			seen.Bytes += len(q.Body)
			seen.Requests++
		}
	}
	return seen
}

// takeAndCount runs the job, counts the processes that it leaves, and kills them. It also kills the processes of a
// contender that is still running 30 s after the timeout.
func (s *runner) takeAndCount(t *testing.T, j job) turn {
	t.Helper()
	var held int
	timer := time.AfterFunc(j.Timeout+30*time.Second, func() {
		held = len(s.home.Living())
		end(s.home)
	})
	seen := s.take(t, j)
	if !timer.Stop() {
		seen.Left = held
		return seen
	}
	time.Sleep(settle)
	seen.Left = len(s.home.Living())
	end(s.home)
	return seen
}

// settle is the time that processes have to end by themselves.
const settle = 3 * time.Second

// takeWithTool runs a job in which a tool of the CLI never ends. It doubles the timeout until the tool ran.
func (s *runner) takeWithTool(t *testing.T, j job) turn {
	t.Helper()
	for ; ; j.Timeout *= 2 {
		ran, over := make(chan bool), make(chan struct{})
		go func() {
			seen := false
			for ticks := time.Tick(200 * time.Millisecond); ; {
				select {
				case <-ticks:
					seen = seen || strings.Contains(strings.Join(s.home.Living(), "\n"), forever)
				case <-over:
					ran <- seen
					return
				}
			}
		}()
		seen := s.takeAndCount(t, j)
		close(over)
		if seen.Ran = <-ran; seen.Ran || j.Timeout > 2*time.Minute {
			return seen
		}
	}
}

// forever is a command that does not end.
const forever = "tail -f -s 86399 /dev/null"

const twice = forever + " & " + forever + "; wait"

// tools are replies that make a CLI run that command and a child of it.
var tools = map[string]loopback.Reply{
	home.Claude: loopback.Tool("Bash", map[string]any{"command": twice, "description": "wait"}),
	home.Codex:  loopback.Tool("exec_command", map[string]any{"cmd": twice, "yield_time_ms": 60000}),
}

// end kills every process of a home.
func end(h home.Home) {
	for _, process := range h.Living() {
		id, _, _ := strings.Cut(process, " ")
		if pid, err := strconv.Atoi(id); err == nil {
			_ = syscall.Kill(pid, syscall.SIGKILL)
		}
	}
}

// failure returns an error for the first call of a turn without the expected text.
func (o outcome) failure(want int) error {
	if len(o.Calls) != want {
		return fmt.Errorf("%d answers of %d", len(o.Calls), want)
	}
	for _, c := range o.Calls {
		if c.Error != "" || !strings.Contains(c.Text, hello) {
			return fmt.Errorf("answered %q: %s", c.Text, c.Error)
		}
	}
	return nil
}
