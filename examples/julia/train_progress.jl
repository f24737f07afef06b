# The progress display of `train`: one line per epoch, and on a terminal a bar below them, which is as
# wide as the terminal at most; and the times of a training, summed over its epochs.

# A line of parts. The first part that does not fit the width is dropped, with all after it.
mutable struct Line
    text::String
    width::Int
    full::Bool
end

# The last column stays free, because a character there makes some terminals begin another line.
line_of_terminal() = Line("", max(displaysize(stderr)[2] - 1, 0), false)

function add!(line, part)
    line.full |= length(line.text) + length(part) > line.width
    line.full || (line.text *= part)
    return nothing
end

mutable struct Watch
    bar::Bool      # standard error is a terminal and gets a bar
    quiet::Bool    # nothing is shown
    metric::Symbol # that chooses the best epoch
    seconds::Dict{Symbol, Float64}
    slowest::Dict{Int, Int} # number of epochs in which a rank was the slowest
    curve::Vector{Tuple{Int, Float64}} # epochs, and their validations
    epochs::Int
end
Watch(bar, quiet, metric) = Watch(bar, quiet, metric, Dict(name => 0.0 for name in (TIMES..., OTHERS...)), Dict(), [], 0)

const TIMES = (:total, :wait, :compute, :reduce, :peer_wait, :optimizer, :sample, :gather)
const OTHERS = (:evaluation_seconds, :mean_busy_seconds, :most_busy_seconds)
const CALLED = Dict(:accuracy => "accuracy", :loss => "loss", :roc_auc => "ROC-AUC", :f1_macro => "macro F1",
                    :f1_micro => "micro F1", :average_precision => "average precision", :rmse => "RMSE", :mae => "MAE")
const SMALLER_IS_BETTER = (:loss, :rmse, :mae)

# Is called after each epoch.
function (watch::Watch)(epoch)
    foreach(name -> watch.seconds[name] += epoch.times[name], TIMES)
    foreach(name -> watch.seconds[name] += epoch[name], OTHERS)
    watch.slowest[epoch.slowest_rank] = get(watch.slowest, epoch.slowest_rank, 0) + 1
    watch.epochs += 1
    validation = epoch.validation === nothing ? nothing : epoch.validation[watch.metric]
    validation === nothing || push!(watch.curve, (epoch.epoch, validation))
    watch.quiet && return
    line = watch.bar ? line_of_terminal() : Line("", typemax(Int), false)
    add!(line, @sprintf("epoch %3d/%d  loss %.4f", epoch.epoch + 1, epoch.num_epochs, epoch.train_loss))
    validation === nothing ||
        add!(line, @sprintf("  validation %s %.4f%s", CALLED[watch.metric], validation, epoch.best ? " *" : "  "))
    add!(line, @sprintf("  %.2f s", epoch.times.total + epoch.evaluation_seconds))
    add!(line, @sprintf("  %.0f seeds/s", epoch.seeds_per_second))
    print((watch.bar ? "\r\e[K" : "") * line.text * "\n") # takes the place of the bar
    flush(stdout)
end

# Prints the bar once; the output about epochs does not delay standard error.
function draw(watch, trainer)
    watch.bar || return
    width, at = 24, progress(trainer)
    share = min((at.epoch + (at.num_steps == 0 ? 0.0 : at.step / at.num_steps)) / max(at.num_epochs, 1), 1.0)
    full = ceil(Int, share * width)
    line = line_of_terminal() # the most important parts first
    add!(line, @sprintf("[%s%s] %3.0f%%", "="^full, "."^(width - full), 100share))
    add!(line, @sprintf("  epoch %d/%d", min(at.epoch + 1, at.num_epochs), at.num_epochs))
    begun = at.seeds_per_second > 0
    begun && add!(line, @sprintf("  loss %.4f", at.loss))
    if 0.01 < share < 1
        left = floor(Int, at.elapsed_seconds * (1 - share) / share)
        add!(line, @sprintf("  %d:%02d left", left ÷ 60, left % 60))
    end
    at.evaluating && add!(line, "  validating")
    at.has_validation && add!(line, @sprintf("  validation %s %.4f", CALLED[watch.metric], at.validation))
    at.accuracy > 0 && add!(line, @sprintf("  training accuracy %.4f", at.accuracy))
    at.has_validation && add!(line, @sprintf("  best %.4f in epoch %d", at.best_validation, at.best_epoch + 1))
    begun && add!(line, @sprintf("  %.0f seeds/s", at.seeds_per_second))
    if at.times.total > 0
        percent(seconds) = round(Int, 100seconds / at.times.total)
        add!(line, "  wait $(percent(at.times.wait)) compute $(percent(at.times.compute)) " *
                   "all-reduce $(percent(at.times.reduce - at.times.peer_wait)) " *
                   "peers $(percent(at.times.peer_wait)) update $(percent(at.times.optimizer)) %")
        at.times.sample + at.times.gather > 0 &&
            add!(line, " (beside: sample $(percent(at.times.sample)) gather $(percent(at.times.gather)) %)")
    end
    print(stderr, "\r" * line.text * "\e[K")
end

clear(bar) = bar && print(stderr, "\r\e[K") # so that other text can follow

# Names the present work in the place of the bar, until that is wiped.
function busy(bar, what)
    bar && print(stderr, "\r" * first(what, max(line_of_terminal().width - 4, 0)) * " ...\e[K")
end

# Prints a line on standard error, above the bar.
function say(bar, text)
    clear(bar)
    println(stderr, text)
end

# The times.
function print_times(watch, seconds)
    watch.epochs == 0 && return @printf("time    %.1f s\n", seconds) # interrupted in the first, or --epochs 0
    times, count = watch.seconds, watch.epochs
    percent(part) = 100part / (times[:total] > 0 ? times[:total] : 100.0)
    rest = times[:total] - times[:wait] - times[:compute] - times[:reduce] -
           times[:optimizer]
    @printf("time    %.1f s: %d epochs of %.3f s, validation %.3f s each\n", seconds, watch.epochs,
            times[:total] / count, times[:evaluation_seconds] / count)
    print("        of an epoch on rank 0: ")
    @printf("waiting for mini-batches %.0f %%, forward and backward %.0f %%,\n        all-reduce %.1f %%, ",
            percent(times[:wait]), percent(times[:compute]),
            percent(times[:reduce] - times[:peer_wait]))
    @printf("waiting for slower ranks %.1f %%, update %.0f %%, other %.0f %%\n",
            percent(times[:peer_wait]), percent(times[:optimizer]), percent(rest))
    @printf("        beside it on rank 0's loader: sampling %.2f s, gathering %.2f s in all\n",
            times[:sample], times[:gather])
    times[:most_busy_seconds] > times[:mean_busy_seconds] || return # one rank
    often, slowest = findmax([get(watch.slowest, rank, 0) for rank in 0:maximum(keys(watch.slowest))])
    longer = 100 * (times[:most_busy_seconds] / times[:mean_busy_seconds] - 1)
    @printf("        slowest rank: %d, in %d of %d epochs; ", slowest - 1, often, watch.epochs)
    @printf("the slowest is busy %.1f %% longer than the mean\n", longer)
end

# A table of classes, or of the targets of a binary task, from a confusion matrix.
function print_classes(confusion)
    targets = ndims(confusion) == 3
    println(targets ? "target" : "class ", "     rows  precision  recall      F1")
    for c in axes(confusion, 1)
        of, index = targets ? (confusion[c, :, :], 2) : (confusion, c)
        rows, predicted, correct = sum(of[index, :]), sum(of[:, index]), of[index, index]
        @printf("%6d  %7d  %9.4f  %6.4f  %6.4f\n", c - 1, rows, correct / max(predicted, 1),
                correct / max(rows, 1), 2correct / max(rows + predicted, 1))
    end
end

# The times of each rank of this process in the last epoch.
function print_ranks(ranks)
    println("ranks   in % of epoch $(ranks[1].epoch + 1)")
    println("        rank  on     seconds  compute  reduce  peers  update    idle  waiting",
            "  (sample  gather)   bus MB  hits")
    for r in ranks
        percent(part) = 100part / (r.times.total > 0 ? r.times.total : 100.0)
        @printf("        %4d  %-6s %7.2f  %7.1f  ", r.rank, r.device < 0 ? "CPU" : "GPU $(r.device)",
                r.times.total, percent(r.times.compute))
        @printf("%6.1f  %5.1f  %6.1f  ", percent(r.times.reduce - r.times.peer_wait),
                percent(r.times.peer_wait), percent(r.times.optimizer))
        @printf("%6.1f  %7.1f  (%6.1f  %6.1f)", percent(r.idle_seconds), percent(r.times.wait),
                percent(r.times.sample), percent(r.times.gather))
        r.device >= 0 && @printf("  %7.1f", r.bus_bytes * 1e-6)
        r.num_rows > 0 && @printf("  %.0f %%", 100r.num_rows_there / r.num_rows)
        println()
    end
end

mean(values) = sum(values) / length(values)

function print_mean(label, name, values, when = "")
    middle = mean(values)
    error = sqrt(sum((values .- middle) .^ 2) / max(length(values) - 1, 1) / length(values))
    @printf("%-7s %s %.4f +- %.4f (mean and standard error of %d runs%s)\n", label, name, middle, error,
            length(values), when)
end

# If folds are held out for validation: the epoch with the best mean of the runs' curves, and,
# because the same data selects and measures that epoch, the end of the curves.
function print_curves(curves, metric)
    points = [[curve[i][2] for curve in curves] for i in 1:minimum(length, curves)]
    best = (metric in SMALLER_IS_BETTER ? argmin : argmax)(mean.(points))
    print_mean("result", CALLED[metric], points[best],
               " after epoch $(curves[1][best][1] + 1), the best in the mean")
    tails = [mean(last.(curve[max(1, end - 9):end])) for curve in curves]
    print_mean("last", CALLED[metric], tails, ", each over its last 10 validations")
end
