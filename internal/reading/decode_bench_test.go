package reading

import (
	"bytes"
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"runtime"
	"runtime/metrics"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/clichain/clichain/clispec"
	"github.com/clichain/clichain/internal/lines"
	"github.com/clichain/clichain/specs"
)

// streamSize is the number of bytes that each benchmark reads. toolOutputs are the sizes of the tool outputs in
// each pool of lines.
const streamSize = 100 << 20

var toolOutputs = []int{200, 1 << 10, 2 << 10, 4 << 10, 8 << 10, 16 << 10, 32 << 10, 64 << 10, 128 << 10, 1 << 20}

// outputText returns n bytes that look like the output of shell tools: a listing, code with tabs and quotes,
// colors, a path of another system, words in other scripts.
func outputText(n int) string {
	const page = "-rw-r--r-- 1 dev dev  4815 Nov 20 14:22 internal/proc/run_test.go\n" +
		"\tif err := json.Unmarshal(data, &value); err != nil {\n\t\treturn fmt.Errorf(\"read %q: %w\", name, err)\n\t}\n\n" +
		"ok  \texample.com/project/internal/store\t0.412s\tcoverage: 87.3% of statements in ./...\n" +
		"The quick brown fox jumps over the lazy dog while the build goes on and nobody looks at its warnings.\n" +
		"\x1b[32mPASS\x1b[0m src/components/Table.test.tsx (12 tests) C:\\Users\\dev\\project <div class=\"row\">\n" +
		"2026-11-20T14:22:40.528Z INFO  request done method=GET path=/api/v1/items?limit=50 status=200 bytes=18231 ms=12\n" +
		"naïve café – 中文 – 😀 done\n"
	return strings.Repeat(page, n/len(page)+1)[:n]
}

// jsonText encodes a text as the CLIs do, which do not escape <, > and &.
func jsonText(text string) string {
	var b bytes.Buffer
	e := json.NewEncoder(&b)
	e.SetEscapeHTML(false)
	_ = e.Encode(strings.ToValidUTF8(text, ""))
	return strings.TrimSuffix(b.String(), "\n")
}

// streamOf describes a CLI's stream: how it reports text and one tool call.
type streamOf struct {
	spec  func() clispec.Spec
	words int                            // lines of words before each tool call
	word  func(i int) string             // one such line
	tool  func(i int, out string) string // the lines of a tool call
	typed func() any                     // a struct with the fields that matter
}

const claudeTail = `,"session_id":"713f44fe-6846-4d21-b520-9c5deb17fb61","parent_tool_use_id":null,"uuid":"a2189c00-42cf-4b34-ae24-bb536e9840de"}`

const claudeUsage = `"model":"claude-opus-4-8","role":"assistant","stop_reason":null,"type":"message","usage":{"cache_creation_input_tokens":2,"cache_read_input_tokens":3,"input_tokens":12,"output_tokens":7},"context_management":null}`

var streams = map[string]streamOf{
	"claude": {
		spec: specs.Claude, words: 150,
		word: func(i int) string {
			return `{"type":"stream_event","event":{"delta":{"text":"` + fmt.Sprint(" word", i) + `","type":"text_delta"},"index":0,"type":"content_block_delta"}` + claudeTail
		},
		tool: func(i int, out string) string {
			return `{"type":"assistant","message":{"content":[{"text":` + jsonText(outputText(1500)) + `,"type":"text"}],"id":"msg_1",` + claudeUsage + claudeTail + "\n" +
				`{"type":"assistant","message":{"content":[{"id":"toolu_1","input":{"command":"go test ./...","description":"run"},"name":"Bash","type":"tool_use"}],"id":"msg_1",` + claudeUsage + claudeTail + "\n" +
				`{"type":"user","message":{"role":"user","content":[{"tool_use_id":"toolu_1","type":"tool_result","content":` + out + `,"is_error":false}]},"parent_tool_use_id":null,"session_id":"713f44fe-6846-4d21-b520-9c5deb17fb61","uuid":"a2189c00-42cf-4b34-ae24-bb536e9840de","timestamp":"2026-11-20T14:22:40.528Z","tool_use_result":{"stdout":` + out + `,"stderr":"","interrupted":false,"isImage":false,"noOutputExpected":false}}`
		},
		typed: func() any { return new(claudeLine) },
	},
	"codex": {
		spec: specs.Codex, words: 20,
		word: func(i int) string {
			return `{"type":"item.completed","item":{"id":"item_2","type":"agent_message","text":` + jsonText(outputText(150+i)) + `}}`
		},
		tool: func(i int, out string) string {
			return `{"type":"item.started","item":{"id":"item_1","type":"command_execution","command":"/bin/bash -lc 'go test ./...'","aggregated_output":"","exit_code":null,"status":"in_progress"}}` + "\n" +
				`{"type":"item.completed","item":{"id":"item_1","type":"command_execution","command":"/bin/bash -lc 'go test ./...'","aggregated_output":` + out + `,"exit_code":0,"status":"completed"}}`
		},
		typed: func() any { return new(codexLine) },
	},
	"gemini": {
		spec: specs.Gemini, words: 150,
		word: func(i int) string {
			return `{"type":"message","timestamp":"2026-11-20T14:26:35.323Z","role":"assistant","content":` + jsonText(outputText(60+i)) + `,"delta":true}`
		},
		tool: func(i int, out string) string {
			return `{"type":"tool_use","timestamp":"2026-11-20T14:26:35.238Z","tool_name":"run_shell_command","tool_id":"run_shell_command__1795184795205_0","parameters":{"command":"go test ./...","description":"run"}}` + "\n" +
				`{"type":"tool_result","timestamp":"2026-11-20T14:26:35.311Z","tool_id":"run_shell_command__1795184795205_0","status":"success","output":` + out + `}`
		},
		typed: func() any { return new(geminiLine) },
	},
	"opencode": {
		spec: specs.OpenCode, words: 20,
		word: func(i int) string {
			return `{"type":"text","timestamp":1795184846855,"sessionID":"ses_e06a51ee2ffeiL7zeE9yxJ858t","part":{"id":"prt_1f95ae7f1001bscevyDG5Uo2UB","messageID":"msg_1f95ae772001FXyIiLfqAHnHfs","sessionID":"ses_e06a51ee2ffeiL7zeE9yxJ858t","type":"text","text":` + jsonText(outputText(150+i)) + `,"time":{"start":1795184846833,"end":1795184846838}}}`
		},
		tool: func(i int, out string) string {
			return `{"type":"step_start","timestamp":1795184846855,"sessionID":"ses_e06a51ee2ffeiL7zeE9yxJ858t","part":{"id":"prt_1","messageID":"msg_1f95ae772001FXyIiLfqAHnHfs","sessionID":"ses_e06a51ee2ffeiL7zeE9yxJ858t","type":"step-start"}}` + "\n" +
				`{"type":"tool_use","timestamp":1795184846737,"sessionID":"ses_e06a51ee2ffeiL7zeE9yxJ858t","part":{"type":"tool","tool":"bash","callID":"call_1","state":{"status":"completed","input":{"command":"go test ./...","description":"run"},"output":` + out + `,"metadata":{"output":` + out + `,"exit":0,"truncated":false},"title":"go test","time":{"start":1795184846521,"end":1795184846667}},"id":"prt_1","sessionID":"ses_e06a51ee2ffeiL7zeE9yxJ858t","messageID":"msg_1"}}` + "\n" +
				`{"type":"step_finish","timestamp":1795184846737,"sessionID":"ses_e06a51ee2ffeiL7zeE9yxJ858t","part":{"id":"prt_1","reason":"tool-calls","messageID":"msg_1","sessionID":"ses_e06a51ee2ffeiL7zeE9yxJ858t","type":"step-finish","tokens":{"total":19,"input":12,"output":7,"reasoning":0,"cache":{"write":0,"read":0}},"cost":0}}`
		},
		typed: func() any { return new(openCodeLine) },
	},
}

// pool returns a few MB of a CLI's lines. Most lines are small, and most bytes are tool outputs. Each size of
// output occurs once; no line is longer than 1 MB.
func (s *streamOf) pool() []byte {
	var b bytes.Buffer
	for _, size := range toolOutputs {
		for i := range s.words {
			b.WriteString(s.word(i) + "\n")
		}
		out := jsonText(outputText(size))
		tool := s.tool(0, out)
		if over := float64(strings.Count(tool, out)*len(out)) / float64(1<<20); over > 1 {
			tool = s.tool(0, jsonText(outputText(int(float64(size)/over*0.99))))
		}
		b.WriteString(tool + "\n")
	}
	return b.Bytes()
}

// feeder passes pools of lines to the reader of each CLI in turn, in pieces like a pipe. The pools are files,
// so that the heap contains only the readers.
type feeder struct {
	writers []*lines.Splitter
	pools   []*os.File
	after   func() // called after each piece
}

func (f *feeder) feed(size int) {
	piece := make([]byte, 64<<10)
	for turn := 0; size > 0; turn++ {
		pool, w := f.pools[turn%len(f.pools)], f.writers[turn%len(f.pools)]
		for offset, n := int64(0), 1; n > 0 && size > 0; offset, size = offset+int64(n), size-n {
			n, _ = pool.ReadAt(piece[:min(len(piece), size)], offset)
			_, _ = w.Write(piece[:n])
			if f.after != nil {
				f.after()
			}
		}
	}
	for _, w := range f.writers {
		_ = w.Close()
	}
}

// growth returns how much the heap grows while new readers read: including garbage, and only what the collector
// found in use.
func (f *feeder) growth(size int) (peak, live float64) {
	for _, w := range f.writers {
		*w = lines.Splitter{Line: w.Line}
	}
	runtime.GC()
	heap := []metrics.Sample{{Name: "/memory/classes/heap/objects:bytes"}, {Name: "/gc/heap/live:bytes"}}
	sample := func() (objects, live float64) {
		metrics.Read(heap)
		return float64(heap[0].Value.Uint64()) / (1 << 20), float64(heap[1].Value.Uint64()) / (1 << 20)
	}
	base, _ := sample()
	f.after = func() {
		objects, marked := sample()
		peak, live = max(peak, objects-base), max(live, marked-base)
	}
	f.feed(size)
	f.after = nil
	return peak, live
}

func decoders(tb testing.TB, names []string, line func(name string, engine *interpreter) func([]byte)) *feeder {
	f := new(feeder)
	for _, name := range names {
		s := streams[name]
		pool, err := os.Create(filepath.Join(tb.TempDir(), name))
		require.NoError(tb, err)
		tb.Cleanup(func() { _ = pool.Close() })
		_, err = pool.Write(s.pool())
		require.NoError(tb, err)
		f.pools = append(f.pools, pool)
		f.writers = append(f.writers, &lines.Splitter{Line: line(name, interpreterOf(tb, s.spec()))})
	}
	return f
}

// BenchmarkDecodeLines reads 100 MB on one core, from bytes to lines to objects to events. For comparison, the
// standard library decodes the same lines into structs.
func BenchmarkDecodeLines(b *testing.B) {
	defer runtime.GOMAXPROCS(runtime.GOMAXPROCS(1))
	all := []string{"claude", "codex", "gemini", "opencode"}
	for _, names := range [][]string{{"claude"}, {"codex"}, {"gemini"}, {"opencode"}, all} {
		title := names[0]
		if len(names) > 1 {
			title = "mixed"
		}
		b.Run(title+"/rules", func(b *testing.B) {
			events := 0
			measure(b, decoders(b, names, func(_ string, engine *interpreter) func([]byte) {
				return func(line []byte) { events += len(engine.eventsIn(line)) }
			}))
			require.NotZero(b, events)
		})
		b.Run(title+"/encoding-json", func(b *testing.B) {
			measure(b, decoders(b, names, func(name string, _ *interpreter) func([]byte) {
				typed := streams[name].typed
				return func(line []byte) { _ = json.Unmarshal(line, typed()) }
			}))
		})
	}
}

func measure(b *testing.B, f *feeder) {
	b.SetBytes(streamSize)
	for b.Loop() {
		f.feed(streamSize)
	}
	for _, times := range []int{1, 10} {
		peak, live := f.growth(times * streamSize)
		b.ReportMetric(peak, fmt.Sprintf("peak-MB-of-%d", times*100))
		b.ReportMetric(live, fmt.Sprintf("live-MB-of-%d", times*100))
	}
}

type claudeLine struct {
	Type    string `json:"type"`
	Subtype string `json:"subtype"`
	Parent  string `json:"parent_tool_use_id"`
	Session string `json:"session_id"`
	Error   string `json:"error"`
	Event   struct {
		Delta struct{ Type, Text, Thinking string } `json:"delta"`
	} `json:"event"`
	Message struct {
		Content []struct {
			Type     string          `json:"type"`
			Text     string          `json:"text"`
			Thinking string          `json:"thinking"`
			ID       string          `json:"id"`
			Name     string          `json:"name"`
			Input    json.RawMessage `json:"input"`
			UseID    string          `json:"tool_use_id"`
			Content  any             `json:"content"`
		} `json:"content"`
	} `json:"message"`
}

type codexLine struct {
	Type   string `json:"type"`
	Thread string `json:"thread_id"`
	Item   struct {
		ID      string `json:"id"`
		Type    string `json:"type"`
		Text    string `json:"text"`
		Message string `json:"message"`
		Output  string `json:"aggregated_output"`
	} `json:"item"`
}

type geminiLine struct {
	Type       string          `json:"type"`
	Role       string          `json:"role"`
	Content    string          `json:"content"`
	Delta      bool            `json:"delta"`
	Tool       string          `json:"tool_name"`
	ID         string          `json:"tool_id"`
	Parameters json.RawMessage `json:"parameters"`
	Output     string          `json:"output"`
}

type openCodeLine struct {
	Type    string `json:"type"`
	Session string `json:"sessionID"`
	Part    struct {
		Text   string `json:"text"`
		Tool   string `json:"tool"`
		CallID string `json:"callID"`
		Reason string `json:"reason"`
		State  struct {
			Input  json.RawMessage `json:"input"`
			Output string          `json:"output"`
		} `json:"state"`
		Tokens struct {
			Input, Output, Reasoning int64
		} `json:"tokens"`
	} `json:"part"`
}
