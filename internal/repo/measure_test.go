package repo_test

import (
	"bufio"
	"bytes"
	"flag"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"runtime"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
)

var measuring = flag.Bool("measure", false, "measure the figures of the pages, and write them")

const figuresPage = "docs/reference/figures.md"

// runs are the benchmarks of the page, as arguments of go test -run '^$' -benchmem.
var runs = [][]string{
	{"-bench=Choose", "-benchtime=200x", "-count=5", "./internal/chaintest/failover"},
	{"-bench=Overhead|FirstCall", "-benchtime=100x", "-count=3", "./internal/chaintest/failover"},
	{"-bench=ManyCalls", "-benchtime=5x", "-count=3", "./internal/chaintest/failover"},
	{"-bench=Spawn|Scan", "-benchtime=200x", "-count=3", "./internal/proc"},
	{"-bench=Capture", "-benchtime=5x", "-count=3", "./internal/proc"},
	{"-bench=DecodeLines", "-benchtime=2x", "-count=1", "./internal/reading"},
	{"-bench=WholePath", "-benchtime=5x", "-count=3", "./internal/reading"},
}

// meanings describe the benchmarks on the page, by name.
var meanings = map[string]string{
	"Choose/cold":             "find the one installed CLI of five, with an empty cache",
	"Choose/new":              "the same, and create the five backends",
	"Choose/warm":             "the same with a filled cache, logged in",
	"Choose/logged_out":       "the same with a filled cache, without a login, for which every call looks again",
	"CallOverhead/bare":       "a fake CLI through os/exec",
	"CallOverhead/provider":   "a complete call of the fake CLI",
	"CallOverhead/difference": "both, alternating",
	"FirstCall/new":           "the first call of a chain of five, answered by the first backend",
	"FirstCall/later":         "a later call",
	"Spawn/proc":              "`/bin/true` with its process tree",
	"Spawn/os-exec":           "`/bin/true` through os/exec",
	"Scan/ages_known":         "the two scans that end a run, with 1000 other processes of known age",
	"Scan/all_read":           "the same, with all processes read",
	"ScanWithCookies":         "the same, with every environment read",
	"Capture/proc":            "100 MB of output, stored in part",
	"Capture/proc-writer":     "the same, also passed on",
	"Capture/os-exec":         "100 MB of output through os/exec",
}

// pipes matches arguments that a shell would split into several commands.
var pipes = regexp.MustCompile(`\S*\|\S*`)

// figures are the results of a benchmark, by unit, in the order of its first run.
type figures struct {
	name   string
	units  []string
	values map[string][]float64
}

// readFigures reads the output of go test -bench.
func readFigures(output []byte) (all []*figures) {
	for line := bufio.NewScanner(bytes.NewReader(output)); line.Scan(); {
		fields := strings.Fields(line.Text())
		if len(fields) < 4 || !strings.HasPrefix(fields[0], "Benchmark") {
			continue
		}
		name := strings.TrimPrefix(fields[0], "Benchmark")
		if i := strings.LastIndexByte(name, '-'); i > 0 {
			if _, err := strconv.Atoi(name[i+1:]); err == nil { // the number of CPUs
				name = name[:i]
			}
		}
		at := slices.IndexFunc(all, func(f *figures) bool { return f.name == name })
		if at < 0 {
			at, all = len(all), append(all, &figures{name: name, values: map[string][]float64{}})
		}
		for i := 2; i+1 < len(fields); i += 2 {
			if value, err := strconv.ParseFloat(fields[i], 64); err == nil {
				f, unit := all[at], fields[i+1]
				if f.values[unit] == nil {
					f.units = append(f.units, unit)
				}
				f.values[unit] = append(f.values[unit], value)
			}
		}
	}
	return all
}

// row returns the table row of a benchmark, with the medians of its runs.
func (f *figures) row() string {
	var cells, more []string
	for _, unit := range []string{"ns/op", "B/op", "MB/s"} {
		cells = append(cells, f.median(unit))
	}
	for _, unit := range f.units {
		if !slices.Contains([]string{"ns/op", "B/op", "MB/s", "allocs/op"}, unit) {
			more = append(more, strings.TrimSuffix(unit, "-ns/op")+" "+f.median(unit))
		}
	}
	cells = append(cells, strings.Join(more, ", "))
	return fmt.Sprintf("| %s | `%s` | %s |\n", f.meaning(), f.name, strings.Join(cells, " | "))
}

func (f *figures) meaning() string {
	family, rest, _ := strings.Cut(f.name, "/")
	first, second, _ := strings.Cut(rest, "/")
	switch family {
	case "DecodeLines":
		return fmt.Sprintf("100 MB of lines, %s, by %s", first, second)
	case "WholePath":
		cli, by, _ := strings.Cut(second, "/")
		return fmt.Sprintf("%s events from a pipe, %s, by %s", first, cli, by)
	case "ManyCalls":
		return fmt.Sprintf("200 calls and 200 runs through os/exec: %s idle processes, %s", readAloud(first), readAloud(second))
	}
	return meanings[f.name]
}

// readAloud returns a part of a benchmark's name with spaces.
func readAloud(name string) string { return strings.ReplaceAll(name, "_", " ") }

func (f *figures) median(unit string) string {
	values := slices.Sorted(slices.Values(f.values[unit]))
	if len(values) == 0 {
		return ""
	}
	return readable(values[len(values)/2], unit)
}

// readable formats a value with about two significant digits.
func readable(value float64, unit string) string {
	scales, names := 1000.0, []string{""}
	switch {
	case strings.HasSuffix(unit, "ns/op"):
		names = []string{" ns", " µs", " ms", " s"}
	case unit == "B/op":
		names = []string{" B", " KB", " MB", " GB"}
	case unit == "MB/s":
		names = []string{" MB/s"}
	}
	for len(names) > 1 && value >= scales {
		value, names = value/scales, names[1:]
	}
	digits := 0
	if value < 10 && value != float64(int64(value)) {
		digits = 1
	}
	return strconv.FormatFloat(value, 'f', digits, 64) + names[0]
}

// machine describes the machine of the measurement.
func machine() string {
	model, load := runtime.GOARCH, "unknown"
	if info, err := os.ReadFile("/proc/cpuinfo"); err == nil {
		if _, rest, ok := strings.Cut(string(info), "model name\t: "); ok {
			model, _, _ = strings.Cut(rest, "\n")
		}
	}
	if loads, err := os.ReadFile("/proc/loadavg"); err == nil {
		load, _, _ = strings.Cut(string(loads), " ")
	}
	return fmt.Sprintf("%d CPUs (%s), %s, %s, load average %s before the first run",
		runtime.NumCPU(), strings.TrimSpace(model), runtime.GOOS, runtime.Version(), load)
}

// TestMeasure runs the benchmarks, counts, and writes the figures of the pages, before a release:
//
//	go test ./internal/repo -run Measure -measure -timeout 60m
func TestMeasure(t *testing.T) {
	if !*measuring {
		t.Skip("-measure is not set; it takes minutes on an idle machine")
	}
	const begin = "<!-- measured: go test ./internal/repo -run Measure -measure -timeout 60m -->"
	text := fmt.Sprintf("Measured on %s at commit %s: %s. Medians.\n\n```sh\n", time.Now().UTC().Format(time.DateOnly), commit(t), machine())
	rows := "| Operation | Benchmark | Time | Allocated | Throughput | Other |\n|---|---|---|---|---|---|\n"
	for _, args := range runs {
		shown := strings.Join(args, " ")
		text += "go test -run '^$' -benchmem " + pipes.ReplaceAllString(shown, "'$0'") + "\n"
		out := command(t, append([]string{"test", "-run=^$", "-benchmem", "-timeout=30m"}, args...)...)
		all := readFigures(out)
		require.NotEmpty(t, all, "%s: %s", shown, out)
		for _, f := range all {
			rows += f.row()
		}
	}
	write(t, figuresPage, with(t, figuresPage, begin, text+"```\n\n"+rows+"\n"+covered(t)+"\n"+counts(t)))
	writeSentences(t)
}

// commit returns the commit of the measurement.
func commit(t *testing.T) string {
	t.Helper()
	out, err := exec.Command("git", "describe", "--always", "--dirty").Output()
	require.NoError(t, err)
	return strings.TrimSpace(string(out))
}

// command runs go and returns its output.
func command(t *testing.T, args ...string) []byte {
	t.Helper()
	cmd := exec.Command("go", args...)
	out, err := cmd.CombinedOutput()
	require.NoError(t, err, "%s: %s", args, out)
	return out
}

// covered returns the duration and the coverage of the tests of the library.
func covered(t *testing.T) string {
	t.Helper()
	profile, began := filepath.Join(t.TempDir(), "profile"), time.Now()
	command(t, "test", "-count=1", "-timeout=30m", "-coverpkg=./...", "-coverprofile="+profile, "./...")
	took := time.Since(began).Round(time.Second)
	fields := strings.Fields(string(command(t, "tool", "cover", "-func="+profile)))
	return fmt.Sprintf("The tests of the library took %s including compilation, and cover %s of its statements\n(`go test "+
		"-count=1 -coverpkg=./... -coverprofile=FILE ./...`).\n", took, fields[len(fields)-1])
}

func TestReadFigures(t *testing.T) {
	all := readFigures([]byte(`goos: linux
BenchmarkSpawn/os-exec-2   	     200	    750123 ns/op	    7123 B/op	      50 allocs/op
BenchmarkSpawn/os-exec-2   	     200	   2750123 ns/op	    7123 B/op	      50 allocs/op
BenchmarkSpawn/os-exec-2   	     200	    850123 ns/op	    7123 B/op	      50 allocs/op
BenchmarkCapture/proc-2    	       5	  28123456 ns/op	3728.29 MB/s	  301234 B/op	 9 allocs/op
BenchmarkCallOverhead/difference-2	 100	 6200000 ns/op	 5600000 bare-ns/op	 612345 overhead-ns/op
BenchmarkDecodeLines/claude/rules-2 	 2	 198000000 ns/op	 535.12 MB/s	 5.600 peak-MB-of-100
BenchmarkScan/all_read 	 200	 350 ns/op	 70.00 processes
BenchmarkManyCalls/beside_1000/16_at_once-2 	 5	 372000000 ns/op	 51.90 %time	 834.2 calls/s
PASS
`))
	var rows []string
	for _, f := range all {
		rows = append(rows, f.row())
	}
	require.Equal(t, []string{
		"| `/bin/true` through os/exec | `Spawn/os-exec` | 850 µs | 7.1 KB |  |  |\n",
		"| 100 MB of output, stored in part | `Capture/proc` | 28 ms | 301 KB | 3728 MB/s |  |\n",
		"| both, alternating | `CallOverhead/difference` | 6.2 ms |  |  | bare 5.6 ms, overhead 612 µs |\n",
		"| 100 MB of lines, claude, by rules | `DecodeLines/claude/rules` | 198 ms |  | 535 MB/s | peak-MB-of-100 5.6 |\n",
		"| the same, with all processes read | `Scan/all_read` | 350 ns |  |  | processes 70 |\n",
		"| 200 calls and 200 runs through os/exec: beside 1000 idle processes, 16 at once | `ManyCalls/beside_1000/16_at_once` |" +
			" 372 ms |  |  | %time 52, calls/s 834 |\n",
	}, rows)
}
