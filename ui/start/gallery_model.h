/// The experiments that ship, as a list: what each is about, its verdict, and what its lanes did.
#pragma once

#include "engine/verify/reference_run.h"

#include <QAbstractListModel>
#include <QSortFilterProxyModel>

#include <filesystem>
#include <optional>
#include <vector>

namespace mantissa {

struct GalleryEntry
{
    QString file;
    QString id {}; ///< "C18"; empty for an example
    QString title {}; ///< without the id
    QString says {}; ///< the claim
    QString verdict {}; ///< as in files: "holds", "partly", "does not hold", "depends"; empty for an example
    QString text {};
    std::optional<ReferenceRun> reference {}; ///< nothing: there is no picture of it
};

/// Reads those files; one that cannot be read is left out, since whoever opens it is told why.
std::vector<GalleryEntry> readGallery(const std::vector<std::filesystem::path>& files);

class GalleryModel : public QAbstractListModel
{
    Q_OBJECT
public:
    enum Role { FileRole = Qt::UserRole, VerdictRole };

    explicit GalleryModel(std::vector<GalleryEntry> entries, QObject* parent = nullptr);

    [[nodiscard]] int rowCount(const QModelIndex& parent = {}) const override;
    [[nodiscard]] QVariant data(const QModelIndex& index, int role) const override;

    [[nodiscard]] const GalleryEntry& entry(int row) const { return m_entries[static_cast<std::size_t>(row)]; }

private:
    std::vector<GalleryEntry> m_entries;
};

/// Those that have every word that was typed, and the verdict that was chosen.
class GalleryFilter : public QSortFilterProxyModel
{
    Q_OBJECT
public:
    using QSortFilterProxyModel::QSortFilterProxyModel;

    void setWords(const QString& text);
    void setVerdict(const QString& verdict); ///< empty: any

protected:
    [[nodiscard]] bool filterAcceptsRow(int row, const QModelIndex& parent) const override;

private:
    QStringList m_words;
    QString m_verdict;
};

} // namespace mantissa
