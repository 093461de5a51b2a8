/// The settings that all lanes share: model, data, training. Editing changes nothing that runs; Apply starts new runs
/// with them and says so.
#pragma once

#include "ui/session/experiment_document.h"

#include <QWidget>

#include <functional>
#include <memory>
#include <string>
#include <utility>
#include <vector>

class QFormLayout;
class QLabel;
class QPushButton;

namespace mantissa {

class SetupPanel : public QWidget
{
    Q_OBJECT
public:
    explicit SetupPanel(QWidget* parent = nullptr);
    ~SetupPanel() override;

    /// Shows the lanes' settings; edits that were not applied are dropped.
    void show(const ExperimentDocument& document);
    [[nodiscard]] bool isEdited() const;
    /// The control of a setting, by its path as in "data.batch"; null if there is none.
    [[nodiscard]] QWidget* control(const std::string& path) const;

    [[nodiscard]] QPushButton* applyButton() const { return m_apply; }

    /// Offers the kind of model that reads the chosen data, where the chosen one does not; hidden otherwise.
    [[nodiscard]] QPushButton* offerButton() const { return m_offer; }

    /// What keeps the edits from being applied, after Apply was refused.
    void showProblem(const QString& why);

signals:
    /// The document with all edits, ready for new runs.
    void applied(const mantissa::ExperimentDocument& document);
    /// Only the number of steps grew: the lanes can train on.
    void extendWanted(qint64 totalSteps);

private:
    struct Field;

    void makeModelFields();
    void makeDataFields();
    void makeTrainingFields();
    void makeOptimizerFields();
    void makeRankFields();
    void addHeading(const QString& text);
    Field& addField(const std::string& path, const QString& name, const QString& tip, QWidget* control);
    void addCombo(const std::string& path, const QString& name, const QString& tip, const QStringList& choices);
    void addNumber(const std::string& path, const QString& name, const QString& tip, bool isInteger, double minimum,
        double maximum, const QString& requirement);
    void addPath(const std::string& path, const QString& name, const QString& tip,
        const std::function<QString(const QString& before)>& choose);
    [[nodiscard]] QString chooseData(const QString& before);
    [[nodiscard]] QString chooseWeights(const QString& before);
    void addText(const std::string& path, const QString& name, const QString& tip);
    void addFlag(const std::string& path, const QString& name, const QString& tip);
    void addHidden(const std::string& path, const QString& name, const QString& tip);
    void edited();
    void explain(const std::vector<std::pair<std::string, nlohmann::json>>& edits, bool isMoreStepsOnly);
    /// Where the kind of model does not fit that of the data: says so and returns true.
    bool offerModel();
    void updateRelevance();
    void updateModelRelevance(
        const std::function<void(const std::string& path, bool isUsed, const QString& whyNot)>& use) const;
    [[nodiscard]] bool isKindChanged() const;
    /// Untouched rows that depend on the kind of model show what the present kind makes of them.
    void showDefaultsOfKind();
    [[nodiscard]] Field* find(const std::string& path) const;
    void apply();
    [[nodiscard]] std::vector<std::pair<std::string, nlohmann::json>> changes() const;
    [[nodiscard]] std::string present(const std::string& path) const;

    QFormLayout* m_form;
    QLabel* m_explanation;
    QPushButton* m_offer;
    QPushButton* m_apply;
    QPushButton* m_revert;
    std::vector<std::unique_ptr<Field>> m_fields;
    ExperimentDocument m_document;
    bool m_isFilling = false;
    std::string m_shownKind; ///< whose defaults the untouched rows show
};

} // namespace mantissa
