package call

import (
	"log/slog"
	"strings"
)

// The limits of stderr in bytes. The failure is usually at its end.
const (
	maxLoggedStderr = 1 << 10
	maxJSONStderr   = 4 << 10
)

// LogValue returns the group that loggers of [log/slog] write: backend, reason, option, message, hint (HintText),
// exit_code, retry_after and the last KiB of stderr, without empty values. It does not contain the partial answer.
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

// LogValue returns the group that loggers of [log/slog] write: backend, reason, skipped, duration and, if there is
// one, error.
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

// loggable returns the error of an attempt in a form of limited length.
func loggable(a Attempt) slog.LogValuer {
	if v, ok := a.Err.(slog.LogValuer); ok {
		return v
	}
	return AsError(a.Backend, a.Err)
}

// tail returns the last bytes of a text, at most most, with a sign if it was cut.
func tail(text string, most int) string {
	const cut = "… "
	if len(text) <= most {
		return text
	}
	return cut + strings.ToValidUTF8(text[len(text)-most+len(cut):], "")
}
