package conformance_test

import (
	"bufio"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync/atomic"
	"syscall"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/clichain/clichain"
	"github.com/clichain/clichain/call"
	"github.com/clichain/clichain/conformance/home"
	"github.com/clichain/clichain/conformance/loopback"
	"github.com/clichain/clichain/conformance/netns"
	"github.com/clichain/clichain/conversation"
	"github.com/clichain/clichain/specs"
)

// speaker is a CLI of a conversation. It is at its limit while limited is set.
type speaker struct {
	name    string
	server  *loopback.Server
	home    home.Home
	limited *atomic.Bool
}

func newSpeaker(t *testing.T, name string) *speaker {
	t.Helper()
	s := &speaker{name: name, limited: new(atomic.Bool)}
	s.server = loopback.New(t, func(q loopback.Request) loopback.Reply {
		if s.limited.Load() {
			return loopback.Error(429, "rate_limit_error", "slow down")
		}
		return loopback.Text(fmt.Sprintf("noted-by-%s-%d", name, q.N)) // one word, because some APIs split an answer
	})
	s.home = home.New(t, name, s.server.URL, home.LoggedIn)
	return s
}

// last returns the latest request that reached the model.
func (s *speaker) last() string {
	calls := s.server.Calls()
	return string(calls[len(calls)-1].Body)
}

// conversationHost is one turn of a conversation in its own process.
type conversationHost struct {
	Record, Text string
	CLIs         []liveHost
}

// hostTurn is an environment variable. It makes this test binary a program that has one turn of a conversation.
const hostTurn = "CONFORMANCE_CONVERSATION_HOST"

// playConversationHost loads a conversation, has one turn, saves it and then blocks, if hostTurn is set.
func playConversationHost() {
	text := os.Getenv(hostTurn)
	if text == "" {
		return
	}
	var order conversationHost
	if err := json.Unmarshal([]byte(text), &order); err != nil {
		panic(err)
	}
	resp, err := order.turn(context.Background())
	if err != nil {
		fmt.Printf("%q\n", err.Error())
	} else {
		fmt.Println(resp.Backend, resp.HandedOver)
	}
	select {}
}

func (o *conversationHost) chain() *clichain.Chain {
	var backends []clichain.Backend
	for _, cli := range o.CLIs {
		spec, _ := specs.ByName(cli.Name)
		backends = append(backends, clichain.NewProvider(spec, &clichain.Config{
			Binary: cli.Binary, Env: cli.Env, Timeout: minute, Model: models[cli.Name],
		}))
	}
	return clichain.ChainOf(backends, &clichain.ChainConfig{NoCooldown: true})
}

func (o *conversationHost) turn(ctx context.Context) (*clichain.Response, error) {
	c := conversation.New(o.chain(), nil)
	record, err := os.Open(o.Record)
	if err == nil {
		c, err = conversation.Load(record, o.chain(), nil)
		_ = record.Close()
	}
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return nil, err
	}
	resp, err := c.Send(ctx, o.Text)
	if err != nil {
		return nil, err
	}
	record, err = os.Create(o.Record)
	if err != nil {
		return nil, err
	}
	return resp, errors.Join(c.Save(record), record.Close())
}

// killed has the turn in another process, and kills that process after the turn.
func (o *conversationHost) killed(t *testing.T) (backend, handedOver string) {
	t.Helper()
	text, err := json.Marshal(o)
	require.NoError(t, err)
	host := exec.Command(os.Args[0])
	host.Env, host.Stderr = append(os.Environ(), hostTurn+"="+string(text)), os.Stderr
	out, err := host.StdoutPipe()
	require.NoError(t, err)
	require.NoError(t, host.Start())
	line, _ := bufio.NewReader(out).ReadString('\n')
	require.NoError(t, host.Process.Signal(syscall.SIGKILL))
	_ = host.Wait()
	backend, handedOver, _ = strings.Cut(strings.TrimSuffix(line, "\n"), " ")
	return backend, handedOver
}

// A conversation has six turns, with a 429 in turns 3 and 5. The next CLI gets the earlier turns. Coming back resumes the
// first session with the turns that it missed, and no turn reaches a model twice.
func TestConversationGoesOnAndComesBack(t *testing.T) {
	netns.Require(t)
	for _, pair := range []struct {
		first, next string
		short       bool
	}{
		{home.Claude, home.Codex, true}, {home.Gemini, home.OpenCode, true},
		{home.Codex, home.Gemini, false}, {home.OpenCode, home.Claude, false},
	} {
		for _, kill := range []bool{false, true} {
			t.Run(fmt.Sprintf("%s and %s, killed %t", pair.first, pair.next, kill), func(t *testing.T) {
				longUnless(t, pair.short && (!kill || pair.first == home.Claude))
				t.Parallel()
				a, b := newSpeaker(t, pair.first), newSpeaker(t, pair.next)
				host := conversationHost{Record: filepath.Join(t.TempDir(), "record.json")}
				for _, s := range []*speaker{a, b} {
					host.CLIs = append(host.CLIs, liveHost{Name: s.name, Binary: s.home.Binary, Env: s.home.Env})
				}
				c := conversation.New(host.chain(), nil)
				turn := func(n int) (backend, handedOver string) {
					if host.Text = fmt.Sprintf("zyzzyva-%d", n); kill {
						return host.killed(t)
					}
					resp, err := c.Send(t.Context(), host.Text)
					require.NoError(t, err)
					require.Equal(t, resp.HandedOver != "", len(resp.Flags) == 1 && resp.Flags[0] == call.FlagHandedOver)
					return resp.Backend, resp.HandedOver
				}
				requireTurn := func(n int, by *speaker, from string) {
					t.Helper()
					backend, handedOver := turn(n)
					require.Equal(t, by.name, backend)
					require.Equal(t, from, handedOver)
					for i := 1; i <= n; i++ {
						word := fmt.Sprintf("zyzzyva-%d", i)
						require.Equal(t, 1, strings.Count(by.last(), word), "%s in turn %d: %s", word, n, by.last())
					}
				}
				requireTurn(1, a, "")
				requireTurn(2, a, "")
				a.limited.Store(true)
				requireTurn(3, b, a.name)
				require.Contains(t, b.last(), "noted-by-"+a.name+"-2")
				requireTurn(4, b, "")
				a.limited.Store(false)
				b.limited.Store(true)
				requireTurn(5, a, b.name)
				for _, text := range []string{"noted-by-" + b.name + "-1", "noted-by-" + b.name + "-2", "was answered elsewhere"} {
					require.Equal(t, 1, strings.Count(a.last(), text), "%s: %s", text, a.last())
				}
				requireTurn(6, a, "")
			})
		}
	}
}
