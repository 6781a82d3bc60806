package call

import (
	"log/slog"
	"strings"
)

// What a CLI printed may be long. A log gets its end, where the failure is.
const (
	maxLoggedStderr = 1 << 10
	maxJSONStderr   = 4 << 10
)

// LogValue is the error as every logger of [log/slog] gets it: a group of
// backend, reason, option, message, hint (HintText), exit_code, retry_after and the last
// kilobyte of stderr, each where there is one. The answer is not in it.
func (e *Error) LogValue() slog.Value {
	var attrs []slog.Attr
	for _, a := range []slog.Attr{
		slog.String("backend", e.Backend), slog.String("reason", string(e.Reason)), slog.String("option", e.Option),
		slog.String("message", e.Detail()), slog.String("hint", e.HintText()),
		slog.String("stderr", tail(e.Stderr, maxLoggedStderr)),
	} {
		if a.Value.String() != "" {
			attrs = append(attrs, a)
		}
	}
	if e.ExitCode > 0 {
		attrs = append(attrs, slog.Int("exit_code", e.ExitCode))
	}
	if !e.RetryAfter.IsZero() {
		attrs = append(attrs, slog.Time("retry_after", e.RetryAfter))
	}
	return slog.GroupValue(attrs...)
}

// LogValue is the attempt as every logger of [log/slog] gets it: a group of
// backend, reason, skipped, duration and, where there is one, error.
func (a Attempt) LogValue() slog.Value {
	attrs := []slog.Attr{
		slog.String("backend", a.Backend), slog.String("reason", string(a.Reason)),
		slog.Bool("skipped", a.Skipped), slog.Duration("duration", a.Duration),
	}
	if a.Err != nil {
		attrs = append(attrs, slog.Any("error", loggable(a)))
	}
	return slog.GroupValue(attrs...)
}

// loggable is the error of an attempt in a form that is bounded.
func loggable(a Attempt) slog.LogValuer {
	if v, ok := a.Err.(slog.LogValuer); ok {
		return v
	}
	return AsError(a.Backend, a.Err)
}

// tail is the end of a text, with at most that many bytes and a sign where it
// was cut.
func tail(text string, most int) string {
	const cut = "… "
	if len(text) <= most {
		return text
	}
	return cut + strings.ToValidUTF8(text[len(text)-most+len(cut):], "")
}
