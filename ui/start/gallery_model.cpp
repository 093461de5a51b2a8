#include "ui/start/gallery_model.h"

#include "ui/session/shipped_texts.h"
#include "ui/style/reference_picture.h"
#include "ui/style/verdict_words.h"

#include <algorithm>
#include <array>

namespace mantissa {

std::vector<GalleryEntry> readGallery(const std::vector<std::filesystem::path>& files)
{
    std::vector<GalleryEntry> entries;
    for (const std::filesystem::path& file : files) {
        try {
            const Experiment experiment = loadExperiment(file);
            const Experiment shown = withShownTexts(file, experiment);
            GalleryEntry entry {.file = QString::fromStdString(file.string())};
            entry.title = QString::fromStdString(shown.name);
            entry.text = QString::fromStdString(shown.text);
            if (shown.claim) {
                entry.id = QString::fromStdString(shown.claim->id);
                entry.says = QString::fromStdString(shown.claim->says);
                entry.verdict = QString::fromStdString(shown.claim->verdict);
                if (entry.title.startsWith(entry.id + QStringLiteral(": "))) {
                    entry.title.remove(0, entry.id.size() + 2);
                }
            }
            try {
                entry.reference = shippedReference(file, experiment);
            } catch (const std::exception&) { // a card without a picture
            }
            entries.push_back(std::move(entry));
        } catch (const std::exception&) { // the list of experiments has it still, and says what is wrong
        }
    }
    return entries;
}

GalleryModel::GalleryModel(std::vector<GalleryEntry> entries, QObject* parent)
    : QAbstractListModel(parent)
    , m_entries(std::move(entries))
{
}

int GalleryModel::rowCount(const QModelIndex& parent) const
{
    return parent.isValid() ? 0 : static_cast<int>(m_entries.size());
}

QVariant GalleryModel::data(const QModelIndex& index, int role) const
{
    if (!index.isValid()) {
        return {};
    }
    const GalleryEntry& entry = this->entry(index.row());
    const QString verdict = verdictWords(entry.verdict);
    switch (role) {
    case Qt::DisplayRole:
        return entry.id.isEmpty() ? entry.title : entry.id + QStringLiteral(": ") + entry.title;
    case Qt::ToolTipRole:
        return entry.says.isEmpty() ? tr("An example to play with") : tr("\u201C%1\u201D %2").arg(entry.says, verdict);
    case Qt::AccessibleTextRole:
        return verdict.isEmpty()
            ? entry.title
            : tr("%1: %2. The claim: %3. Verdict: %4").arg(entry.id, entry.title, entry.says, verdict);
    case Qt::AccessibleDescriptionRole:
        return entry.reference ? referenceSummary(*entry.reference) : QString();
    case FileRole:
        return entry.file;
    case VerdictRole:
        return entry.verdict;
    default:
        return {};
    }
}

void GalleryFilter::setWords(const QString& text)
{
    m_words = text.split(QLatin1Char(' '), Qt::SkipEmptyParts);
    invalidateFilter();
}

void GalleryFilter::setVerdict(const QString& verdict)
{
    m_verdict = verdict;
    invalidateFilter();
}

bool GalleryFilter::filterAcceptsRow(int row, const QModelIndex&) const
{
    const GalleryEntry& entry = static_cast<const GalleryModel*>(sourceModel())->entry(row);
    if (!m_verdict.isEmpty() && entry.verdict != m_verdict) {
        return false;
    }
    return std::ranges::all_of(m_words, [&entry](const QString& word) {
        return std::ranges::any_of(std::array {&entry.id, &entry.title, &entry.says, &entry.text},
            [&word](const QString* text) { return text->contains(word, Qt::CaseInsensitive); });
    });
}

} // namespace mantissa
