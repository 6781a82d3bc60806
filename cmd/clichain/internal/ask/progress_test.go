package ask

import (
	"encoding/json"
	"regexp"
	"testing"
	"time"

	"github.com/clichain/clichain"
	"github.com/clichain/clichain/cmd/clichain/internal/console"
	"github.com/clichain/clichain/cmd/clichain/internal/terminal"
	"github.com/stretchr/testify/require"
)

func TestProgressFits(t *testing.T) {
	colours := regexp.MustCompile(`\x1b\[[0-9]+m`)
	rows := &timeline{style: console.Style{On: true}, full: time.Minute}
	rows.name("a-name-of-a-backend-that-is-long")
	for _, p := range []*progress{{}, {style: console.Style{On: true}}, {style: console.Style{On: true}, timeline: rows}} {
		for _, e := range []clichain.Event{
			{Kind: clichain.EventAttempt, Backend: "first", Attempt: &clichain.Attempt{Backend: "first", Reason: "exit"}},
			{Kind: clichain.EventStart, Backend: "a-name-of-a-backend-that-is-long"},
			{Kind: clichain.EventToolUse, Name: "Bash", Input: json.RawMessage(`{"command":"echo 中文中文中文中文中文中文中文 👩‍👩‍👧 \\u001b[2J é\u0301"}`)},
		} {
			p.note(e)
			for width := range 131 {
				line := colours.ReplaceAllString(p.text(width), "")
				require.LessOrEqual(t, terminal.Width(line), width, line)
				require.NotContains(t, line, "\x1b")
			}
		}
		require.Contains(t, p.text(130), "uses Bash: echo 中文")
	}
}

func TestDoing(t *testing.T) {
	for _, test := range []struct {
		name string
		e    clichain.Event
		want string
	}{
		{"session with model", clichain.Event{Kind: clichain.EventSession, Model: "opus"}, "waits for opus"},
		{"session without model", clichain.Event{Kind: clichain.EventSession}, "waits for the model"},
		{"command", tool(`{"description":"tests","command":"go test"}`), "uses T: go test"},
		{"command as a list", tool(`{"command":["bash","-lc","ls"]}`), "uses T: bash -lc ls"},
		{"file", tool(`{"file_path":"/a/b.go","limit":3}`), "uses T: /a/b.go"},
		{"JSON object in a string", tool(`"{\"cmd\":\"ls\"}"`), "uses T: ls"},
		{"input without known fields", tool(`{"x":1,"command":7}`), "uses T"},
		{"input that is not an object", tool(`[1]`), "uses T"},
		{"no input", tool(``), "uses T"},
		{"retry", clichain.Event{Kind: clichain.EventRetry, Message: "busy", Try: 2, Status: 401}, "tries again: busy try 2 after status 401"},
		{"event without text", clichain.Event{Kind: clichain.EventUsage}, ""},
	} {
		require.Equal(t, test.want, doing(test.e), test.name)
	}
}

func tool(input string) clichain.Event {
	return clichain.Event{Kind: clichain.EventToolUse, Name: "T", Input: json.RawMessage(input)}
}
