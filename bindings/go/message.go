package gnnmg

import (
	"fmt"
	"log/slog"
	"time"

	"gnnmg/internal/raw"
)

// A Message is a remark of the library besides results and errors: it never prints.
type Message struct {
	Level   LogLevel
	Time    time.Time
	Text    string
	Dropped int64 // messages lost before this one because the queue was full
}

func (r *Runtime) nextMessage() (Message, bool, error) {
	buffer := make([]byte, 256)
	for {
		var info raw.LogInfo
		result, needed := raw.LogNext(r.token(), sized(&info), &buffer[0], uint64(len(buffer)))
		if result.Status != raw.OK {
			return Message{}, false, failure(result)
		}
		if needed <= uint64(len(buffer)) {
			return Message{LogLevel(info.Level), time.Unix(0, info.UnixTimeNs), textOf(buffer),
				info.DroppedBefore}, true, nil
		}
		buffer = make([]byte, needed) // the message has stayed in the queue
	}
}

// Slog is the level of a message for [log/slog].
func (l LogLevel) Slog() slog.Level {
	switch l {
	case LogDebug:
		return slog.LevelDebug
	case LogInfo:
		return slog.LevelInfo
	case LogWarning:
		return slog.LevelWarn
	default:
		return slog.LevelError
	}
}

func versionText(version int32) string {
	return fmt.Sprintf("%d.%d.%d", version/10000, version/100%100, version%100)
}
