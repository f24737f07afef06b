# Sourced by the scripts that compare examples in several languages.
# steady <name of the run>: prints the part of its output that is the same in every run, for all orders in which processes or
# threads print; without Gloo's lines about ranks that have not joined yet.
steady() {
  sed '/gloo.*debug_logger/d' | case $1 in
    architectures) sed -E 's/[0-9.]+ s an epoch/N s an epoch/' ;;
    cancel_progress) sed -E '/^epoch/d; s/[0-9.]+$/N/' ;;
    collectives) sed -E 's/ERR_ABORTED: (rendezvous|barrier): /ERR_ABORTED: /' | sort ;; # depends on the progress of the canceled one
    processes) sort ;;
    *_warns) steady "${1%_warns}" | sort ;; # warnings are printed to another stream than the rest
    context) sed -E 's/[0-9.]+ of 64 MiB/N of 64 MiB/; s/ (in|after) [0-9.]+ (ms|s)\b/ in N/g' ;;
    edge_list) sed '/^still reading/d' ;;
    embeddings) sed 's/^largest difference.*/largest difference/; s/^in no time: .*/in no time/' ;;
    peers) sed '/^waiting/d' | sort ;;
    train*) # keeps the table of ranks without its figures
      sed -E 's/ +[0-9.]+ s +[0-9]+ seeds.s$//
        /^time/,/^ranks/{/^ranks/!d}; /^        rank /,${s/ *-?[0-9]+\.[0-9]+/ N/g}' ;;
    *) cat ;;
  esac
}
