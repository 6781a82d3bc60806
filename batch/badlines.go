package batch

import (
	"os"

	"github.com/clichain/clichain/batch/internal/disk"
	"github.com/clichain/clichain/batch/internal/input"
)

// badLines stores the lines that cannot run in a file, or passes them to Config.OnBadLine.
type badLines struct {
	file   *disk.BadLines                       // nil: no file
	report func(number int, reason error) error // nil: bad lines are only counted
}

func openBadLines(cfg *Config) (b *badLines, err error) {
	b = &badLines{report: cfg.OnBadLine}
	if cfg.Bad != "" {
		b.file, err = disk.OpenBadLines(cfg.Bad, false)
	} else if info, statErr := os.Stat(cfg.Out); cfg.Out != disk.Stream && (statErr != nil || info.Mode().IsRegular()) {
		b.file, err = disk.OpenBadLines(cfg.Out+".bad.jsonl", true)
	}
	return b, err
}

func (b *badLines) add(line input.Line, reason error) error {
	switch {
	case b.file != nil:
		return b.file.Add(line.Number, line.Text, reason)
	case b.report != nil:
		return b.report(line.Number, reason)
	}
	return nil
}

// close closes the file. complete reports that the whole input was read.
func (b *badLines) close(complete bool) error {
	if b.file == nil {
		return nil
	}
	return b.file.Close(complete)
}
