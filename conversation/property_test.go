package conversation_test

import (
	"bytes"
	"context"
	"fmt"
	"regexp"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"

	"github.com/clichain/clichain"
	"github.com/clichain/clichain/call"
	"github.com/clichain/clichain/conversation"
)

var turnWord = regexp.MustCompile(`turn-word-\d+;`)

// repeated returns a message of the user that the texts of a session contain more than once.
func repeated(texts []string) string {
	seen := map[string]bool{}
	for _, word := range turnWord.FindAllString(strings.Join(texts, "\n"), -1) {
		if seen[word] {
			return word
		}
		seen[word] = true
	}
	return ""
}

// Three backends fail in all ways, the program is restarted, and the user repeats failed messages or sends others. No
// session gets a message twice, and a backend that answers has every message of the conversation.
func TestEachMessageReachesASessionOnce(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		fakes := []*fake{newFake("a"), newFake("b"), newFake("c")}
		for _, f := range fakes {
			f.next = func(clichain.Request) (*call.Error, bool) {
				o := rapid.SampledFrom([]outcome{ok, ok, limited, skipped, crashed, lost, long, acted}).Draw(t, f.name)
				return o.err, o.held
			}
		}
		cfg := conversation.Config{Request: clichain.Request{
			Access:   rapid.SampledFrom([]clichain.Access{clichain.AccessNone, clichain.AccessWrite}).Draw(t, "access"),
			Messages: []clichain.Message{{Role: clichain.RoleSystem, Content: "Be brief."}},
		}}
		if rapid.Bool().Draw(t, "bounded") {
			cfg.MaxBytes = rapid.IntRange(1, 1500).Draw(t, "bytes")
		}
		c := conversation.New(chain(fakes...), &cfg)
		text := ""
		for i := range rapid.IntRange(1, 15).Draw(t, "turns") {
			unanswered := text != "" && strings.HasSuffix(textOf(clichain.Request{Messages: c.Messages()}), "user: "+text)
			if !unanswered || rapid.Bool().Draw(t, "other message") {
				text = fmt.Sprintf("turn-word-%d;", i)
			}
			resp, err := c.Send(context.Background(), text)
			for _, f := range fakes {
				for handle, texts := range f.sessions {
					require.Empty(t, repeated(texts), "session %s of %s: %q", handle, f.name, texts)
				}
			}
			if err == nil {
				requireAllMessages(t, c, fakes, resp)
			}
			if rapid.Bool().Draw(t, "restart") {
				var record bytes.Buffer
				require.NoError(t, c.Save(&record))
				before := c.Messages()
				c, err = conversation.Load(&record, chain(fakes...), &cfg)
				require.NoError(t, err)
				require.Equal(t, before, c.Messages())
			}
		}
	})
}

// requireAllMessages requires that the session of an answer has every message that the conversation holds, and the
// answers of the other backends.
func requireAllMessages(t require.TestingT, c *conversation.Conversation, fakes []*fake, resp *clichain.Response) {
	for _, f := range fakes {
		if f.name != resp.Backend {
			continue
		}
		texts := strings.Join(f.sessions[resp.Session], "\n")
		messages := c.Messages()
		if strings.Contains(texts, " are left out.)") {
			messages = messages[len(messages)-2:]
		}
		for _, m := range messages {
			own := strings.HasPrefix(m.Content, f.name+" answers") // of this session, or of an earlier one
			require.True(t, own || strings.Contains(texts, m.Content), "%q is not in %q", m.Content, texts)
		}
	}
}

// A failed message stays in a conversation only if a session holds it, so a conversation never has two answers or two
// copies of a message in a row.
func TestConversationHasNoRepeatedMessages(t *testing.T) {
	a := newFake("a", ok, limited, limited, skipped, crashed, limited, ok)
	c := conversation.New(a.backend(), nil)
	send(t, c, "one", "a")
	for range 5 {
		_, err := c.Send(t.Context(), "two")
		require.Error(t, err)
	}
	send(t, c, "two", "a")
	texts := []string{}
	for _, m := range c.Messages() {
		texts = append(texts, m.Content)
	}
	require.Equal(t, []string{"one", "a answers 1", "two", "a answers 7"}, texts)
}
