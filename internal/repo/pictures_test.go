package repo_test

import (
	"encoding/xml"
	"fmt"
	"regexp"
	"strconv"
	"strings"
	"testing"
	"time"
	"unicode/utf8"

	"github.com/stretchr/testify/require"
)

// TestPictures draws the pictures of the pages from their text sources. With -update it writes them.
// README shows the demo as a terminal of 80 columns does.
func TestReadmeShowsTheDemo(t *testing.T) {
	screen, _, ok := strings.Cut(read(t, "cmd/clichain/testdata/terminal/demo-80.txt"), "\n\nNow with your own CLIs")
	require.True(t, ok)
	require.Contains(t, read(t, "README.md"), "\n```text\n"+screen+"\n```\n")
}

func TestPictures(t *testing.T) {
	for _, picture := range []struct {
		file, source string
		draw         func(t *testing.T, source string) string
	}{
		{"docs/pictures/architecture.svg", "docs/pictures/architecture.txt", drawLayers},
		{"docs/pictures/demo.svg", "cmd/clichain/testdata/terminal/demo-80.txt", drawTerminal},
		{"docs/pictures/benchmarks.svg", benchmarksPage, drawBars},
	} {
		t.Run(picture.source, func(t *testing.T) {
			drawn := picture.draw(t, read(t, picture.source))
			require.NoError(t, xml.Unmarshal([]byte(drawn), new(struct{})))
			hold(t, picture.file, drawn)
		})
	}
}

// svg is a picture under construction.
type svg struct{ strings.Builder }

func (s *svg) box(class string, x, y, width, height float64) {
	fmt.Fprintf(s, `<rect class="%s" x="%.0f" y="%.0f" width="%.1f" height="%.0f" rx="4"/>`+"\n", class, x, y, width, height)
}

func (s *svg) text(class string, x, y float64, text string) {
	fmt.Fprintf(s, `<text class="%s" x="%.0f" y="%.0f">`, class, x, y)
	_ = xml.EscapeText(s, []byte(text))
	s.WriteString("</text>\n")
}

// whole returns the picture as a file. Its colors suit light and dark pages.
func (s *svg) whole(title string, width, height int, style string) string {
	var b strings.Builder
	fmt.Fprintf(&b, `<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 %d %d" width="%d" role="img">`+"\n<title>", width, height, width)
	_ = xml.EscapeText(&b, []byte(title))
	fmt.Fprintf(&b, "</title>\n<style>\n%s\n</style>\n%s</svg>\n", strings.TrimSpace(style), s.String())
	return b.String()
}

const diagramStyle = `
text { font: 13px system-ui, sans-serif; fill: #1f2933 }
.title { font-weight: 600; text-anchor: end }
.label { text-anchor: middle; font-weight: 600 }
.small { text-anchor: middle; font-size: 11px; fill: #52606d }
.figure { font-size: 11px }
.page { fill: #ffffff }
.layer { fill: #eef2f6 }
.part { fill: #ffffff; stroke: #9aa5b1 }
.own { fill: #2f6fde }
.peer { fill: #b8c4d0 }`

// drawLayers draws each line of the source as a band of boxes.
func drawLayers(t *testing.T, source string) string {
	const width, left, band, gap = 980, 90.0, 62.0, 14.0
	var s svg
	y := 10.0
	for line := range strings.Lines(source) {
		title, boxes, ok := strings.Cut(strings.TrimSpace(line), ":")
		if !ok || strings.HasPrefix(title, "#") {
			continue
		}
		s.box("layer", left, y, width-left-10, band)
		s.text("title", left-10, y+band/2+5, title)
		parts := strings.Split(boxes, "|")
		each := (width - left - 10 - gap) / float64(len(parts))
		for i, part := range parts {
			label, packages, ok := strings.Cut(part, "=")
			require.True(t, ok, "a box of %q has no packages", title)
			for _, dir := range strings.Split(packages, ",") {
				if dir = strings.TrimSpace(dir); dir != "" {
					require.DirExists(t, dir)
				}
			}
			x := left + gap + float64(i)*each
			s.box("part", x, y+9, each-gap, band-18)
			s.text("label", x+(each-gap)/2, y+28, strings.TrimSpace(label))
			s.text("small", x+(each-gap)/2, y+44, strings.TrimSpace(packages))
		}
		y += band + 10
	}
	var page svg
	page.box("page", 0, 0, width, y)
	page.WriteString(s.String())
	return page.whole("The parts of clichain that a call passes, from the top down.", width, int(y), diagramStyle)
}

// moment finds how long a CLI of the recording took.
var moment = regexp.MustCompile(`█.? +([0-9.]+ m?s) `)

// drawTerminal draws a screen. Its lines appear at the times that they name.
func drawTerminal(t *testing.T, source string) string {
	const height, char = 18.0, 8.1
	var s svg
	var at time.Duration
	width, y := 0.0, 32.0
	for line := range strings.Lines("$ go run ./examples/demo\n\n" + source) {
		line = strings.TrimRight(line, "\n")
		if found := moment.FindStringSubmatch(line); found != nil {
			took, err := time.ParseDuration(strings.ReplaceAll(found[1], " ", ""))
			require.NoError(t, err)
			at += took
		}
		class := "line"
		switch {
		case strings.Contains(line, "✗"):
			class += " failed"
		case strings.Contains(line, "✓"):
			class += " answered"
		case strings.HasPrefix(line, "        "):
			class += " detail"
		}
		if line != "" {
			fmt.Fprintf(&s, `<text class="%s" style="animation-delay:%.2fs" x="16" y="%.0f" xml:space="preserve">`, class, at.Seconds(), y)
			require.NoError(t, xml.EscapeText(&s, []byte(line)))
			s.WriteString("</text>\n")
		}
		width = max(width, float64(utf8.RuneCountInString(line))*char)
		y += height
	}
	require.NotZero(t, at, "no line has a time")
	var page svg
	page.box("screen", 0, 0, width+32, y)
	page.WriteString(s.String())
	return page.whole("clichain demo: five fake CLIs are asked in turn until one answers.", int(width)+32, int(y), `
text { font: 13.5px ui-monospace, Menlo, Consolas, monospace; fill: #d8dee9; white-space: pre }
.screen { fill: #1c2128 }
.failed { fill: #f08d8d }
.answered { fill: #8fd694 }
.detail { fill: #9aa5b1 }
.line { animation: appear 0.1s both }
@keyframes appear { from { opacity: 0 } to { opacity: 1 } }
@media (prefers-reduced-motion: reduce) { .line { animation: none } }`)
}

// benchmarksPage has the measured figures.
const benchmarksPage = "docs/reference/benchmarks.md"

// charted are the lines of the page's first table that the chart shows.
var charted = []string{
	"The first CLI is at its limit: answer, s",
	"One prompt, claude: sent to the model, bytes",
	"One prompt, claude: answer, ms",
	"A timeout while a tool runs: processes left 3 s later",
	"Ten prompts one after the other, claude: all answers, s",
}

// drawBars draws a group of bars for each of these lines. The longest bar of a group has the full length.
func drawBars(t *testing.T, page string) string {
	const width, left, full, bar = 760, 240.0, 440.0, 17.0
	var names []string
	rows := map[string][]string{}
	for line := range strings.Lines(page) {
		cells := strings.Split(strings.Trim(strings.TrimSpace(line), "|"), "|")
		for i := range cells {
			cells[i] = strings.ReplaceAll(strings.TrimSpace(cells[i]), "**", "")
		}
		switch {
		case names == nil && len(cells) > 2 && cells[0] == "" && cells[1] == "clichain":
			names = cells[1:]
		case names != nil && len(cells) == len(names)+1:
			rows[cells[0]] = cells[1:]
		}
	}
	var s svg
	y := 10.0
	for _, title := range charted {
		require.Contains(t, rows, title, "%s has no such line", benchmarksPage)
		s.text("group", 10, y+14, title)
		y += 22
		most := 0.0
		for _, cell := range rows[title] {
			most = max(most, number(cell))
		}
		for i, cell := range rows[title] {
			value := number(cell)
			if value < 0 {
				continue // this contender cannot do it
			}
			class := "peer"
			if names[i] == "clichain" {
				class = "own"
			}
			s.text("title", left-8, y+13, names[i])
			s.box(class, left, y+1, max(full*value/max(most, 1e-9), 1), bar-3)
			s.text("figure", left+full*value/max(most, 1e-9)+6, y+13, strings.Fields(cell)[0])
			y += bar
		}
		y += 12
	}
	var whole svg
	whole.box("page", 0, 0, width, y)
	whole.WriteString(s.String())
	return whole.whole("Medians of docs/reference/benchmarks.md; shorter is better.", width, int(y), diagramStyle+"\n.group { font-weight: 600 }")
}

// number returns the figure of a cell; -1 for none.
func number(cell string) float64 {
	first, _, _ := strings.Cut(cell, " ")
	value, err := strconv.ParseFloat(strings.Trim(first, "*"), 64)
	if err != nil {
		return -1
	}
	return value
}
