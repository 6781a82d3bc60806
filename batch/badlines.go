package batch

import (
	"os"

	"github.com/clichain/clichain/batch/internal/disk"
	"github.com/clichain/clichain/batch/internal/input"
)

// badLines takes the lines that cannot run: to a file, or to Config.OnBadLine.
type badLines struct {
	file   *disk.BadLines                       // nil: none
	report func(number int, reason error) error // nil: the lines are counted only
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

// close closes the file; complete says that all of the input was read.
func (b *badLines) close(complete bool) error {
	if b.file == nil {
		return nil
	}
	return b.file.Close(complete)
}
