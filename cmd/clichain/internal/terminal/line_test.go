package terminal

import (
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

func text(s string) func(int) string { return func(width int) string { return Shorten(s, width) } }

// Other output must remove the status line. The line must return after that output ends its own line.
func TestLine(t *testing.T) {
	var screen strings.Builder
	l := &Line{Out: &screen, Width: func() int { return 6 }}
	out, other := l.Over(&screen), l.Over(&screen)
	write := func(w interface{ Write([]byte) (int, error) }, s string) {
		n, err := w.Write([]byte(s))
		require.NoError(t, err)
		require.Equal(t, len(s), n)
	}
	for _, step := range []struct {
		name string
		do   func()
		want string
	}{
		{"nothing to clear", l.Clear, ""},
		{"draw with a free last column", func() { l.Draw(text("asking")) }, "\raski…\x1b[K"},
		{"second draw", func() { l.Draw(text("b")) }, "\rb\x1b[K"},
		{"output of a complete line", func() { write(out, "one\n") }, "\r\x1b[Kone\n"},
		{"draw after a complete line", func() { l.Draw(text("c")) }, "\rc\x1b[K"},
		{"output of a partial line", func() { write(out, "tw") }, "\r\x1b[Ktw"},
		{"draw after a partial line", func() { l.Draw(text("c")) }, ""},
		{"empty output", func() { write(other, "") }, ""},
		{"draw after empty output", func() { l.Draw(text("c")) }, ""},
		{"line ended by another stream", func() { write(other, "\n") }, "\n"},
		{"draw after the line ended", func() { l.Draw(text("d")) }, "\rd\x1b[K"},
		{"clear", l.Clear, "\r\x1b[K"},
		{"second clear", l.Clear, ""},
	} {
		screen.Reset()
		step.do()
		require.Equal(t, step.want, screen.String(), step.name)
	}
	require.False(t, Is(out))
	require.Zero(t, Columns(out))
}

// A width of 0 must not panic.
func TestLineWithZeroWidth(t *testing.T) {
	var screen strings.Builder
	l := &Line{Out: &screen, Width: func() int { return 0 }}
	l.Draw(text("asking"))
	require.Equal(t, "\r\x1b[K", screen.String())
}

func TestTexts(t *testing.T) {
	for _, test := range []struct {
		name, text string
		width      int
		want       string
	}{
		{"text shorter than the width", "go test", 7, "go test"},
		{"text longer than the width", "go test ./...", 7, "go tes…"},
		{"zero width", "go", 0, ""},
		{"negative width", "go", -3, ""},
		{"wide characters that do not fit", "中文中文", 5, "中文…"},
		{"wide characters that fit", "中文", 4, "中文"},
		{"combining character", "e\u0301tude", 5, "e\u0301tude"},
	} {
		t.Run(test.name, func(t *testing.T) {
			got := Shorten(test.text, test.width)
			require.Equal(t, test.want, got)
			require.LessOrEqual(t, Width(got), max(test.width, 0))
		})
	}
	require.Equal(t, "a]0;title b", OneLine("a\x1b]0;title\x07\r\n\tb"))
	require.Equal(t, "rm a.txt", OneLine("rm \u202ea.txt\u2066"), "the direction stays")
	require.Equal(t, "a\n\tb\ufffd", Visible("a\r\n\tb\x9b"))
}

func TestFit(t *testing.T) {
	parts := []Part{{"claude", 3}, {"", 9}, {"uses Read", 2}, {"after codex", 1}}
	for width, want := range map[int]string{
		80: "claude  uses Read  after codex", 29: "claude  uses Read", 16: "claude", 4: "cla…",
	} {
		require.Equal(t, want, Fit(width, parts...))
	}
	require.Empty(t, Fit(10))
}
